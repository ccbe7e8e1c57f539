# A command that ends with 1 because of its result is a failure, with the reason.
need-ort || exit 77
printf 'input x 2x4\nnode Relu x y\noutput y 2x4\n' | onnx-model relu.onnx
printf 'input x 2x4\nnode Neg x y\noutput y 2x4\n' | onnx-model neg.onnx
deepclock accuracy relu.onnx neg.onnx --seed 1 -f junit -o differ.xml 2> why
echo "differ: $?"
junit differ.xml | cut -c1-120
printf 'input x 2x4\nnode Frobnicate x y\noutput y 2x4\n' | onnx-model odd.onnx
deepclock cost odd.onnx --strict -f junit -o strict.xml 2> why
echo "strict: $?"
junit strict.xml | cut -c1-120
deepclock cost odd.onnx -f junit -o plain.xml 2> why
echo "plain: $?"
junit plain.xml
