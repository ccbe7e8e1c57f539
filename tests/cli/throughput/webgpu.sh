# heavy
# On a GPU the rate is of completed runs, never of those that were only started; a size for which it has no memory
# ends the search as it does on the CPU.
. webgpu || exit 77
webgpu-row row.onnx
deepclock bench --quiet --device webgpu --batch 64 --runs 20 --max-warmup 300ms --save bench.json row.onnx > text
echo $?
deepclock throughput --quiet --device gpu --batch 64,16384 --rounds 2 --point-time 200ms --max-time 60s --save run.json row.onnx > text
echo $?
record run.json 'f("engine", "provider")' 'f("throughput", "limited_by")' 'f("device", "barrier")' \
	'm("throughput/best_batch")["value"]' \
	'[row[3] for row in t("throughput/points")["rows"]]' \
	'64e9 / m("throughput/best")["value"] > least("bench.json", "latency") / 5' \
	'64e9 / m("throughput/best")["value"] > 5 * least("bench.json", "enqueue")' \
	'note("point-memory")["text"]'
