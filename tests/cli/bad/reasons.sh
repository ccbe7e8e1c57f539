# The true reason: a directory that takes no files, a model without outputs, a group of 0.
need-ort || exit 77
deepclock zoo simplenet -o /proc/net.onnx
echo $?
deepclock zoo simplenet -o none/net.onnx
echo $?
printf 'input x 1x4x8x8\nweight w 8x4x3x3\noutput y\nnode Conv x,w y conv ai.onnx group=0\n' | onnx-model group.onnx
deepclock cost group.onnx | sed -n 2,3p
printf 'input x 2x4\nnode Relu x y\n' | onnx-model none.onnx
printf 'input x 2x4\noutput y\nnode Relu x y\n' | onnx-model one.onnx
deepclock accuracy none.onnx one.onnx
echo $?
