# No binary on a terminal.
on-terminal 80 deepclock zoo simplenet -o - > out
echo $?
grep deepclock: out
