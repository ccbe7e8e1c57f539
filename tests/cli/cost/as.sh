# Results of other counters' conventions, and where they differ from ours.
deepclock cost --details zoo:simplenet --as fvcore | sed '/^Facts/,$d'
for counter in torchvision fvcore thop ptflops calflops onnx-tool; do
	echo $counter
	deepclock cost zoo:resnet18 --as $counter --format json > run.json
	record run.json 'f("cost", "as")' 'f("cost", "as_unit")' 'm("cost/peer")["value"]' \
		'sum(o["peer"] for o in r["ops"]) == m("cost/peer")["value"]'
done
deepclock cost --details zoo:simplenet --as fvcoer
echo $?
