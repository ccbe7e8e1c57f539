deepclock zoo simplenet -o missing/a.onnx
echo $?
deepclock zoo simplenet -o .
echo $?
deepclock zoo simplenet -o /dev/full
echo $?
deepclock zoo simplenet --image-size 224 -o a.onnx
echo $?
deepclock zoo resnet18 --image-size 0x7 -o a.onnx
echo $?
ls
# The system refuses the name: this is not a failure of standard output.
deepclock zoo simplenet -o $(printf %04200d 0) 2>&1 | sed 's/0000*/0/'
