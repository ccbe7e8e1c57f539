# heavy
# Whatever an engine fuses: each node of the model belongs to one operator, so the operators add up to the model.
need-ort || exit 77
totals='sum(o["macs"] for o in r["ops"]), sum(o["flops"] for o in r["ops"]), sum(o["params"] for o in r["ops"])'
for model in mobilenet_v2 bert_mini; do
	deepclock cost --quiet --format json zoo:$model > cost.json
	record cost.json "$totals" > want
	cat want
	for opt in none basic extended all; do
		deepclock profile --quiet --opt $opt --threads 1 --runs 2 --warmup 1 --profile-runs 2 --no-roofs \
			--no-memory --format json zoo:$model > run.json
		echo $opt $?
		record run.json "$totals" | cmp - want
		record run.json 'f("profile", "nodes") == f("profile", "nodes_mapped")' \
			'abs(sum(o["time"] for o in r["ops"]) / m("latency/median")["value"] - 1) < 1e-9' \
			'len({n for o in r["ops"] for n in o.get("origins", [])}) == sum(len(o.get("origins", [])) for o in r["ops"])'
	done
done
