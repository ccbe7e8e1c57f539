# heavy
# Streams that share a GPU: each request ends when its own results are there, and what is served is what the GPU did.
. webgpu || exit 77
webgpu-row row.onnx
deepclock bench --quiet --device webgpu --batch 64 --max-time 300ms --max-warmup 300ms --save bench.json row.onnx > text
echo $?
deepclock load --quiet --device webgpu --batch 64 --streams 3 --requests 60 --max-warmup 300ms --save run.json row.onnx > text
echo $?
# At 10 times the rate of the runs it would be that of enqueueing them.
record run.json 'm("runs/count")["value"]' 'min(row[1] for row in r["tables"][0]["rows"]) >= 10' 'f("device", "barrier")' \
	'm("throughput/items")["value"] / (64 / [x for x in load("bench.json")["metrics"] if x["tag"] == "latency/median"][0]["value"] * 1e9) < 5' \
	'm("latency/median")["value"] > 5 * [x for x in load("bench.json")["metrics"] if x["tag"] == "device/enqueue"][0]["value"]' \
	'f("method", "transfers")' 'note("oversubscribed")' \
	'"3 streams share one device" in note("streams-share-device")["text"]'
# With more sets of inputs each stream copies its own.
deepclock load --quiet --device webgpu --batch 4 --streams 4 --input-pool 3 --requests 200 --max-warmup 300ms --save run.json row.onnx > text
echo $?
record run.json 'm("runs/count")["value"]'
