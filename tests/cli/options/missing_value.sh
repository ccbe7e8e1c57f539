deepclock bench zoo:simplenet --runs
echo $?
deepclock bench --runs --quiet zoo:simplenet
echo $?
deepclock zoo simplenet -o
echo $?
