# No weights are read: 4 TB of missing weights are counted nevertheless.
onnx-model net.onnx <<'END'
input x 1x1000000
external w 1000000x1000000
output y
node MatMul x,w y
END
deepclock cost net.onnx --format json > run.json
echo $?
record run.json 'm("cost/macs")["value"]' 'm("cost/params")["value"]' 'm("cost/weight_bytes")["value"]'
