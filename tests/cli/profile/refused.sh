# One message each, before anything is measured.
bad() {
	deepclock profile "$@"
	echo $?
}
bad
bad --engine command zoo:simplenet
bad --engine null zoo:simplenet --processes 2
bad zoo:simplenet --save -
bad "cmd:'true'"
bad missing.onnx
bad zoo:simplenet --profile-runs -1
