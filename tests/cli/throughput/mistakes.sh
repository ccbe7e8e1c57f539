run() {
	deepclock throughput --quiet "$@" > text
	echo $?
	cat text
}
run
run zoo:florp --engine null
run zoo:simplenet --batch 0
run zoo:simplenet --batch 1,,2
run zoo:simplenet --batch 1,a
run zoo:simplenet --threads 99999999999
run zoo:simplenet --min-batch 8 --max-batch 4
run zoo:simplenet --slo p98
run zoo:simplenet --slo 'p99>20ms'
run zoo:simplenet --slo 'max<=1s' --slo 'max<=1us'
run zoo:simplenet --engine null --in-flight 2,257
run zoo:simplenet --engine null --shape input=1x784
run zoo:simplenet --batch-dim N
run zoo:simplenet --rounds 1
run zoo:simplenet --point-time 0
run zoo:simplenet --batches 3
run zoo:simplenet --save -
run cmd:true
run plugin:x.so
run there_is_no.onnx --engine null
run zoo:simplenet --engine florp
run zoo:simplenet --engine null --engine-option florp=1
run zoo:simplenet --engine null --engine-option fail_at=1
run zoo:simplenet --engine null --engine-option fail_at=3
