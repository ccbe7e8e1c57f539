# A file and the built-in network of the same name give the same model; the shape may be given.
need-ort || exit 77
deepclock zoo simplenet --symbolic -o net.onnx
deepclock bench --quiet --runs 20 --warmup 2 --threads 1 --dim batch=8 --format json net.onnx > run.json
echo $?
record run.json 'm("runs/count")["value"]' \
	'round(m("throughput/items")["value"] * m("latency/median")["value"] / 1e9, 1)'
