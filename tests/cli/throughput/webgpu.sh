# heavy
# On a GPU the rate is of completed runs, never of those that were only started; a size for which it has no memory
# ends the search as it does on the CPU.
. webgpu || exit 77
webgpu-row row.onnx
deepclock bench --quiet --device webgpu --batch 64 --max-time 300ms --max-warmup 300ms --save bench.json row.onnx > text
echo $?
deepclock throughput --quiet --device gpu --batch 64,16384 --rounds 2 --point-time 200ms --max-time 60s --save run.json row.onnx > text
echo $?
record run.json 'f("engine", "provider")' 'f("throughput", "limited_by")' 'f("device", "barrier")' \
	'm("throughput/best_batch")["value"]' \
	'[row[3] for row in t("throughput/points")["rows"]]' \
	'0.1 < m("throughput/best")["value"] / (64 / [x for x in load("bench.json")["metrics"] if x["tag"] == "latency/median"][0]["value"] * 1e9) < 10' \
	'64 / m("throughput/best")["value"] > 5 * [x for x in load("bench.json")["metrics"] if x["tag"] == "device/enqueue"][0]["value"] / 1e9' \
	'note("point-memory")["text"]'
