# heavy
# A model exported for one item accepts a batch: rebatched, compared with the original item by item, and reported.
need-ort || exit 77
for net in simplenet resnet18 bert_mini; do
	deepclock zoo $net $([ $net = resnet18 ] && echo --image-size 64) -o $net.onnx
	deepclock bench --quiet --batch 3 --runs 2 --warmup 0 --threads 1 --save run.json $net.onnx > text
	echo $?
	record run.json 'f("subject", "rebatched")' 'f("subject", "batch_checked").split()[:2]' '" on 3 items" in f("subject", "batch_checked")' \
		'f("subject", "items_per_run")' '[n["severity"] for n in r["notes"] if n["code"] == "rebatched"]'
done
deepclock bench --quiet --batch 3 --no-batch-check --runs 2 --warmup 0 --save run.json simplenet.onnx > text
record run.json 'f("subject", "batch_checked")'
# a model whose batch is the requested one is not rebatched
deepclock bench --quiet --batch 1 --runs 2 --warmup 0 --save run.json simplenet.onnx > text
record run.json '[n["code"] for n in r["notes"] if n["code"] == "rebatched"]'
# a symbolic link into another directory, as in model caches
mkdir -p blobs && mv simplenet.onnx blobs/abc && ln -s blobs/abc linked.onnx
deepclock bench --quiet --batch 2 --runs 2 --warmup 0 --save run.json linked.onnx > text
record run.json 'f("subject", "rebatched")'
deepclock cost --quiet --batch 5 linked.onnx --format json > cost.json
record cost.json 'm("cost/macs")["value"]' '[n["code"] for n in r["notes"] if n["code"] == "rebatched"]'
# text cannot be compared; the other output is
printf 'input x 1x4\noutput y 1x4\noutput s\nnode Neg x y\nnode Cast x s cast ai.onnx to=8\n' | onnx-model text.onnx
deepclock bench --quiet --batch 4 --runs 2 --warmup 0 --save run.json text.onnx > text; echo "exit $?"
record run.json 'f("subject", "batch_checked")'
ls
