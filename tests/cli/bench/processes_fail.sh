deepclock bench --quiet --processes 2 --runs 5 --engine null zoo:florp
echo $?
