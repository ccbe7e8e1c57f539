deepclock bench --quiet --processes 3 --runs 20 --warmup 2 --engine null --save run.json zoo:simplenet > text
echo $?
record run.json 'r["command"]' 'm("runs/count")["value"]' 'f("method", "processes")' \
	'sum(t["tag"].startswith("latency/process/") for t in r["series"])'
deepclock bench --quiet --processes 2 --runs 5 --warmup 0 --format json -- echo --processes 9 > run.json
echo $?
record run.json 'r["command"]' 'm("runs/count")["value"]'
