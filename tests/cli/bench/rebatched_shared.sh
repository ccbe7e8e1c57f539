# A rebatched model: an input that has to be shared by all items is named.
need-ort || exit 77
printf 'input x 1x4\ninput table 1x4\noutput y\nnode Transpose table t\nnode MatMul x,t y\n' | onnx-model shared.onnx
deepclock bench --quiet --batch 3 --runs 2 --warmup 0 --threads 1 --save run.json shared.onnx > text
echo $?
record run.json 'f("subject", "batch_shared")' '[n["text"].split("; ")[2] for n in r["notes"] if n["code"] == "rebatched"]' \
	'[x["value"] for x in r["facts"] if x["key"].startswith(("input/", "output/"))]'
deepclock cost --quiet --batch 3 shared.onnx --format json > cost.json
record cost.json '[n["text"] for n in r["notes"] if n["code"] == "rebatched"]'
# all inputs have a batch axis
printf 'input x 1x4\ninput z 1x4\noutput y\nnode Add x,z y\n' | onnx-model both.onnx
deepclock cost --quiet --batch 3 both.onnx --format json > cost.json
record cost.json '[n["text"] for n in r["notes"] if n["code"] == "rebatched"]' '[x["value"] for x in r["facts"] if x["key"] == "batch_shared"]'
