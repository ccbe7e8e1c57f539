deepclock zoo resnet81
echo $?
deepclock zoo florp
echo $?
deepclock zoo -o x.onnx
echo $?
ls
