# On a device operators of integers and of other types without a peak have no roof: never that of FP32.
LD_LIBRARY_PATH=$(dirname "$(command -v deepclock)")/tests/doubles
export LD_LIBRARY_PATH
export CUDA_DOUBLE_MEMORY=4000000000
onnx-model net.onnx << 'END'
input x 64x64
input w 64x64
output y
output z
node MatMul x,w a
node Relu a y
node Cast x n cast ai.onnx to=7
node Neg n z
END
deepclock cost net.onnx --device cuda --quiet --save run.json > text 2> err
echo $?
sed -n 2p text | sed 's/[0-9.]* [mnµ]*s,/N ns,/'
record run.json '[(o["type"], o.get("bound"), o["roof"]["absent"] if isinstance(o["roof"], dict) else "known") for o in r["ops"]]' \
	'm("cost/attainable")["absent"]'
deepclock report run.json --details | sed -n '/^What binds/,/^$/p' | sed 's/ \{1,\}[0-9.]\{1,\}/ N/g'
