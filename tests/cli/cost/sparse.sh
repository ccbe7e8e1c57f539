# Of a sparse initializer the stored values are parameters; the product is that of the whole matrix.
onnx-model net.onnx <<'END'
input x 1x100
sparse w 100x50 7
output y
node MatMul x,w y
END
deepclock cost net.onnx --format json > run.json
record run.json 'm("cost/macs")["value"]' 'm("cost/params")["value"]' 'm("cost/weight_bytes")["value"]'
deepclock inspect net.onnx | grep -i weights
