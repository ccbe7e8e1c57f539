deepclock bench --quiet --runs 20 --warmup 2 --save run.json -- true > text
echo $?
record run.json 'm("runs/count")["value"]' 's("latency")["warmup"]' 'len(s("latency")["values"])' \
	'r["command"]' 'r["incomplete"]' 'm("latency/median")["value"] > 0' 'm("latency/median")["unit"]' \
	'm("throughput/items")["unit"]'
grep -q median text && echo reported
deepclock bench --quiet --runs 4 --processes 2 --save two.json -- true > two
record two.json 'm("throughput/items")["unit"]'
deepclock report two.json | grep -o 'runs/s' | head -n 1
