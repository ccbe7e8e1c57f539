deepclock bench --quiet --runs 5 -- false
echo $?
deepclock bench --quiet --runs 5 -- ./missing
echo $?
touch plain
deepclock bench --quiet --runs 5 -- ./plain
echo $?
deepclock bench --quiet --runs 5 --warmup 0 --any-exit --format json -- false > run.json
echo $?
record run.json 'm("runs/count")["value"]' 'r["incomplete"]'
