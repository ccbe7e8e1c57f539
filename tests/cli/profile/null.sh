# The null engine: shares of its reported times, scaled to the latency; costs of the model's nodes.
mkdir tmp
TMPDIR=$PWD/tmp deepclock profile --quiet --engine null --engine-option ns=1000000 \
	--engine-option operators=/fc1/Gemm:600000,/relu/Relu:250000,/fc2/Gemm:150000 \
	--runs 20 --warmup 2 --profile-runs 10 --no-roofs --format json zoo:simplenet > run.json
echo $?
ls tmp
record run.json 'r["incomplete"]' '[o["name"] for o in r["ops"]]' '[o["macs"] for o in r["ops"]]' \
	'[round(o["time"] / m("latency/median")["value"], 9) for o in r["ops"]]' \
	'm("profile/coverage")["value"]' 'm("profile/perturbation")["value"] > 0' \
	'm("profile/attainable")["absent"]' 'f("profile", "runs")' \
	'f("profile", "nodes"), f("profile", "nodes_mapped")' 'm("memory/weights")["value"]'
