# Nothing is measured for a file that cannot be written; if writing fails only at the end, the result is printed.
deepclock bench --quiet --runs 5 --warmup 0 --format json --save missing/run.json -- true > printed.json
echo "$? $(wc -c < printed.json)"
deepclock bench --quiet --runs 5 --warmup 0 --format json --save /dev/full -- true > printed.json
echo $?
record printed.json 'm("runs/count")["value"]'
echo old > run.json
deepclock bench --quiet --runs 5 --warmup 0 --save run.json/below -- true > printed
echo $?
cat run.json
