# An unknown cost is absent with its reason, and an error with --strict.
onnx-model net.onnx <<'END'
input x 2x8
weight w 8x4
output y
node MatMul x,w m layer1/product
node Frobnicate m f layer1/frob example.org
node Relu m y layer2/relu
END
deepclock cost --details net.onnx
echo $?
deepclock cost --details net.onnx --strict > text
echo $?
grep -c product text
deepclock cost net.onnx --strict --format json > run.json
echo $?
record run.json 'm("cost/macs")' 'm("cost/params")["value"]' 'm("cost/coverage")["value"]' \
	'[o["macs"] for o in r["ops"]]' 'note("cost-unknown")["severity"]'
deepclock cost --details zoo:simplenet --strict > text
echo $?
