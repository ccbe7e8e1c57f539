# --batch rebatches a model of a fixed batch, as in cost; a model that cannot be is refused with the reason.
onnx-model net.onnx <<'END'
input x 3x4
weight w 4x4
output y 3x4
node MatMul x,w y
END
deepclock inspect net.onnx --batch 6
deepclock cost net.onnx --batch 6 | sed -n 2p
onnx-model mixed.onnx <<'END'
input x 3x4
output y 1x1
node ReduceMean x y mean
END
deepclock inspect mixed.onnx --batch 6 2>&1
echo $?
