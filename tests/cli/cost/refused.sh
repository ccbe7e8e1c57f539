# Each mistake gets one message.
try() {
	echo "- $*"
	deepclock cost "$@" > out
	echo $?
	test -s out && echo printed
}
deepclock zoo simplenet -o net.onnx
for bytes in 1 100 50000; do
	head -c $bytes net.onnx > cut-$bytes.onnx
	try cut-$bytes.onnx
done
echo "no model at all, but some text" > text.onnx
: > empty.onnx
mkdir folder
try text.onnx
try empty.onnx
try folder
try missing.onnx
try zoo:simplent
try
try net.onnx net.onnx
try --save - net.onnx
try --image-size 32 net.onnx
try zoo:resnet18 --batch 4 --shape 2x3x224x224
try zoo:resnet18 --image-size 64 --shape 1x3x32x32
try --save missing/run.json net.onnx
try cmd:true
try --froamt json net.onnx
