# Dimensions with long names have letters in the formula, A for the first; a name that is part of a longer
# name is not mistaken for it, and a letter that the model itself uses is skipped.
model() {
	onnx-model net.onnx <<END
input x $1x8x$2
weight w 8x8
output y
node MatMul w,x y product
END
}
model paddle.DynamicDimension.1 paddle.DynamicDimension.10
deepclock cost net.onnx
deepclock cost net.onnx --format json > run.json
record run.json 'f("cost", "size/A")' 'f("cost", "size/B")' 'f("cost", "macs_formula")'
deepclock inspect net.onnx | head -3
model A paddle.DynamicDimension.1
deepclock cost net.onnx | head -3
