# Options of a network that would change nothing are refused: without -o nothing is made; --symbolic takes no sizes.
deepclock zoo llama_mini --layers 1
echo $?
deepclock zoo bert_mini --seq 600
echo $?
deepclock zoo --batch 3
echo $?
deepclock zoo conv2d -o conv.onnx --symbolic --batch 4
echo $?
deepclock cost --operators conv.onnx
echo $?
ls
