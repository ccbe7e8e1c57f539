# The measurement succeeds, but its timeline cannot be written: the error is printed, and the exit status is 1.
[ -w /dev/full ] || { echo "there is no /dev/full"; exit 77; }
deepclock bench --quiet --runs 5 --warmup 1 --trace /dev/full --save run.json -- true > /dev/null
echo $?
record run.json 'r["incomplete"]' 'm("runs/count")["value"]' 'note("trace-failed")["severity"]'
