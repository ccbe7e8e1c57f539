# Guarantees for scripts: exact integers, and operators that add up to the total.
for model in conv2d matmul simplenet resnet18 bert_mini; do
	echo $model
	deepclock cost zoo:$model --format json > run.json
	record run.json 'm("cost/macs")["value"]' 'm("cost/flops")["value"]' 'm("cost/params")["value"]' \
		'm("cost/coverage")["value"]' 'sum(o["macs"] for o in r["ops"]) == m("cost/macs")["value"]' \
		'sum(o["flops"] for o in r["ops"]) == m("cost/flops")["value"]' \
		'sum(o["params"] for o in r["ops"]) == m("cost/params")["value"]' \
		'sum(o["weight_bytes"] for o in r["ops"]) == m("cost/weight_bytes")["value"]' \
		'len(r["ops"]) == f("cost", "operators")' 'any("time" in o for o in r["ops"])' 'r["incomplete"]'
done
