run() {
	deepclock tune --quiet "$@" > text
	echo $?
	cat text
}
printf 'ns=1,2\n' > space.txt
printf 'florp=1,2\n' > florp.txt
printf 'batch=1,x\n' > value.txt
run
run zoo:florp
run zoo:simplenet --goal speed
run zoo:simplenet --only florp
run zoo:simplenet --skip thread
run zoo:simplenet --only threads --skip opt
run zoo:simplenet --space there_is_no.txt
run zoo:simplenet --engine null --space florp.txt
run zoo:simplenet --engine null --space value.txt --goal throughput
run zoo:simplenet --engine null --space value.txt
printf 'seed=1,2\n' > seed.txt
run zoo:simplenet --engine null --space seed.txt
printf 'engine=null,florp\n' > engine.txt
run zoo:simplenet --engine null --space engine.txt
printf 'threads=1,2\nthreads=3\n' > twice.txt
run zoo:simplenet --space twice.txt
run zoo:simplenet --engine null
run zoo:simplenet --engine null --skip threads
: > empty.txt
run zoo:simplenet --engine null --space empty.txt
run zoo:simplenet --only variant
run zoo:simplenet --max-time 0
run zoo:simplenet --trial 0
run zoo:simplenet --level 2
run zoo:simplenet --min-change 0
run zoo:simplenet --rounds 3
run zoo:simplenet --slo 20ms
run zoo:simplenet --slo 'max<=1s' --slo 'max<=1us'
run zoo:simplenet --min-accuracy 0.5
run zoo:simplenet --labels y.npy
run zoo:simplenet --labels y.npy --inputs x.npy
run zoo:simplenet --labels y.npy --inputs x.npy --max-error 1
printf 'in-flight=1,2\n' > flight.txt
run zoo:simplenet --space flight.txt
run zoo:simplenet --engine null --space space.txt --resume no/such/folder
run cmd:true
run plugin:x.so
run there_is_no.onnx --engine null --space space.txt
run zoo:simplenet --engine florp
printf 'ns=%s\n' "$(seq -s , 20)" > many.txt
run zoo:simplenet --engine null --space many.txt
printf '\357\273\277ns=1,x\0\n' > zero.txt
run zoo:simplenet --engine null --space zero.txt
run zoo:simplenet --max-error 0
run zoo:simplenet --labels y.npy --inputs x.npy --min-accuracy 0.5
touch y.npy
run zoo:simplenet --labels y.npy --inputs input=x.npy --min-accuracy 0.5
