# The null engine, end to end.
deepclock bench --quiet --engine null --runs 50 --warmup 5 --format json zoo:simplenet > run.json
echo $?
record run.json 'm("runs/count")["value"]' 'f("engine", "name")' 'r["incomplete"]'
