# Subjects and options that cannot be compared are refused with one message.
deepclock compare zoo:simplenet
echo $?
deepclock compare zoo:simplenet --vary opt=none
echo $?
deepclock compare zoo:simplenet --vary optt=none,all
echo $?
deepclock compare zoo:simplenet zoo:simplenet --vary opt=none,all
echo $?
deepclock compare zoo:simplenet --modes --vary opt=none,all
echo $?
deepclock compare zoo:simplenet old.json
echo $?
deepclock compare zoo:simplenet zoo:resnet1
echo $?
deepclock compare zoo:simplenet missing.onnx --quiet
echo $?
deepclock compare zoo:simplenet zoo:simplenet --rounds 3
echo $?
deepclock compare --vary cpus=0,1 zoo:simplenet
echo $?
deepclock compare zoo:simplenet --vary threads=1,2 --over batch
echo $?
deepclock compare zoo:simplenet --vary threads=1,2 --over batch=1,2 --aa
echo $?
deepclock compare zoo:simplenet zoo:simplenet --visit 1ms
echo $?
deepclock compare zoo:simplenet zoo:simplenet --visits=2
echo $?
deepclock compare 1.json 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17.json 18.json
echo $?
# A comma that is part of a value.
deepclock compare --vary 'cpus=0\,1,1' zoo:simplenet
echo $?
