deepclock bench --quiet --runs 20 --warmup 2 --save run.json -- true > text
echo $?
record run.json 'm("runs/count")["value"]' 's("latency")["warmup"]' 'len(s("latency")["values"])' \
	'r["command"]' 'r["incomplete"]' 'm("latency/median")["value"] > 0' 'm("latency/median")["unit"]'
grep -q median text && echo reported
