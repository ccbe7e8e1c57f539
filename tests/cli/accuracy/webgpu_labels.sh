# Whether predictions on a GPU agree with those on the CPU, item by item, also where the last batch is not full.
. webgpu || exit 77
printf 'input x Nx3\noutput y\nnode Softmax x y\n' | onnx-model scores.onnx
npy x.npy '<f4' 5x3 .5 .3 .2 .4 .41 .2 0 0 1 .1 .2 .9 0 .8 .7
npy y.npy '<i8' 5 0 1 2 2 2
deepclock accuracy --details --quiet --labels y.npy --inputs x.npy --batch 2 --vary device=cpu,webgpu --save run.json scores.onnx > text
echo $?
sed -n '/^Classification report/,/^weighted avg/p' text
record run.json 'f("difference", "verdict")' 'm("accuracy/overall/device=webgpu")["value"]' 'm("accuracy/overall")["value"]' \
	'[(x["name"], [[c.get("value", c) if isinstance(c, dict) else c for c in row] for row in x["rows"]]) for x in r["tables"][2:4]]'
