# A model that uses nearly all letters itself: a long name for which no letter is left stays unchanged.
for letter in A B C D E F G H I J K L M N O P Q R S T U V W X Y; do
	echo "input i$letter ${letter}x8"
done > inputs
{
	cat inputs
	echo 'input x paddle.DynamicDimension.1xpaddle.DynamicDimension.2x8'
	echo 'weight w 8x8'
	echo 'output y'
	echo 'node MatMul x,w y product'
} | onnx-model net.onnx
deepclock cost net.onnx | head -3
deepclock cost net.onnx --format json > run.json
record run.json 'f("cost", "size/Z")' 'f("cost", "macs_formula")'
