deepclock benhc
echo $?
deepclock florp
echo $?
deepclock model.onnx
echo $?
