# A real engine: operators and the gaps between them add up to the latency; fused operators name their origins.
need-ort || exit 77
deepclock profile --quiet --threads 1 --runs 20 --warmup 5 --profile-runs 20 --no-roofs --format json \
	--image-size 64 zoo:resnet18 > run.json 2> err
echo $?
record run.json 'r["incomplete"]' 'abs(sum(o["time"] for o in r["ops"]) / m("latency/median")["value"] - 1) < 1e-6' \
	'0.5 < m("profile/coverage")["value"] <= 1' 'f("profile", "nodes_mapped") == f("profile", "nodes")' \
	'sum(o["macs"] for o in r["ops"])' 'any(len(o.get("origins", [])) > 1 for o in r["ops"])' \
	'all(o["time_lo"] <= o["time"] <= o["time_hi"] for o in r["ops"] if "time_lo" in o)' \
	'm("memory/arena_peak")["value"] > 0' 'm("memory/activation_peak")["value"] > 0' \
	'm("memory/weights")["value"]' 'note("profile-failed")'
deepclock cost --image-size 64 --format json zoo:resnet18 > cost.json
record cost.json 'm("cost/macs")["value"]'
