# The open size of a key-value cache, which has four dimensions, is a length and not that of an image.
onnx-model net.onnx <<'MODEL'
input ids 1xS int64
input past Bx4xPASTx16
output y
output z
node Cast ids y
node Relu past z
MODEL
deepclock inspect net.onnx | grep ^next
