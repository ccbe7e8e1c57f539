# The record is saved all the same.
deepclock bench --quiet --runs 5 --warmup 0 --save run.json -- true > /dev/full
echo $?
record run.json 'm("runs/count")["value"]'
