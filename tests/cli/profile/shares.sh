# Reports of the null engine, including operators that the model lacks: types, modules, notes.
deepclock profile --details --quiet --engine null --engine-option ns=2000000 \
	--engine-option operators=/fc1/Gemm:900000,/relu/Relu:100000,/fc2/Gemm:500000,copy:500000 \
	--runs 10 --warmup 1 --profile-runs 5 --no-roofs --save run.json zoo:simplenet > text
echo $?
record run.json 'r["incomplete"]' '[o["name"] for o in r["ops"]]' '[o["type"] for o in r["ops"]]' \
	'[o.get("scope") for o in r["ops"]]' '[o["macs"] for o in r["ops"]]' \
	'[round(o["time"] / m("latency/median")["value"], 3) for o in r["ops"]]' \
	'round(m("profile/coverage")["value"], 3)' 'f("profile", "runs")' 'f("profile", "nodes_mapped")' \
	'f("profile", "floor")' 'f("profile", "resolution")' 'm("profile/attainable")' \
	'note("profiler-not-calibrated")["text"]' 'note("engine-memory-unknown")["text"]' \
	'm("memory/weights")["value"]' 'm("cost/peak_activation_bytes")["value"]'
grep '^[A-Z]' text | grep -v '^Histogram'
