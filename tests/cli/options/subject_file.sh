# A subject that is not a model file: a program, a directory, an empty file.
deepclock zoo simplenet -o resnet50.onnx
mkdir one two hub saved none
cp resnet50.onnx one/net.onnx
cp resnet50.onnx two/a.onnx
cp resnet50.onnx two/b.onnx
touch hub/config.json saved/saved_model.pb
printf '#!/bin/sh\ntouch started\n' > prog.sh
chmod +x prog.sh
say() {
	deepclock "$@" 2>&1 | sed -n 1p | sed "s/as 'two.*'/as 'two...'/"
}
say bench 'ls -R x'
say bench ls
say load 'ls -R x' --rate 5
say pitfalls ls
say compare zoo:simplenet 'ls -R x'
say profile ls
say throughput ./prog.sh
say bench ./prog.sh
say bench prog.sh
say ls
say 'sleep 0.1'
say 'no such program'
say bench resnet18
say bench resnt50.onnx
say bench one/nt.onnx
say cost one
say bench two
say bench hub
say bench saved
say bench none
say bench 'no such thing'
say bench ''
# A model with execute permission, as all files have on some disks, is a model.
chmod +x resnet50.onnx
deepclock cost -q resnet50.onnx -f csv | grep -c cost/macs
test -e started && echo started
# The suggested command works.
deepclock bench -q -r 3 -w 0 -f csv -- ls -d . | grep -c latency/median
