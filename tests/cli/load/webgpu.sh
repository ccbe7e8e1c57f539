# heavy
# Streams that share a GPU: each request ends when its own results are there, and what is served is what the GPU did.
. webgpu || exit 77
webgpu-row row.onnx
deepclock bench --quiet --device webgpu --batch 64 --runs 20 --max-warmup 300ms --save bench.json row.onnx > text
echo $?
deepclock load --quiet --device webgpu --batch 64 --streams 3 --requests 60 --max-warmup 300ms --save run.json row.onnx > text
echo $?
# At 10 times the rate of the runs it would be that of enqueueing them.
record run.json 'm("runs/count")["value"]' 'min(row[1] for row in r["tables"][0]["rows"]) >= 10' 'f("device", "barrier")' \
	'64e9 / m("throughput/items")["value"] > least("bench.json", "latency") / 5' \
	'm("latency/median")["value"] > 5 * least("bench.json", "enqueue")' \
	'f("method", "transfers")' 'note("oversubscribed")' \
	'"3 streams share one device" in note("streams-share-device")["text"]'
# With more sets of inputs each stream copies its own.
deepclock load --quiet --device webgpu --batch 4 --streams 4 --input-pool 3 --requests 200 --max-warmup 300ms --save run.json row.onnx > text
echo $?
record run.json 'm("runs/count")["value"]'
