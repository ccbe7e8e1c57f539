# A function name of 120 characters, as C++ has, widens the column of names in a file.
long=$(printf 'std::_Hashtable<%0.sX' 1 2 3 4 5 6 7 8)
printf 'main;%s 5\nmain;work 3\n' "$long" >run.folded
deepclock report run.folded --details | grep -E '^ +(function|main|work|std)' | head -4 | sed 's/ *$//'
