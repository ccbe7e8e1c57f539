# The record is saved even though stdout is full.
deepclock bench --quiet --runs 5 --warmup 0 --save run.json -- true > /dev/full
echo $?
record run.json 'm("runs/count")["value"]'
