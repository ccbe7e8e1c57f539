# One message for each mistake, including options of the null engine.
try() {
	echo "- $*"
	deepclock profile --quiet --engine null --runs 3 --warmup 0 --no-roofs "$@" > out
	echo $?
	test -s out && echo printed
}
try
try missing.onnx
try zoo:simplent
try cmd:true
try --processes 3 zoo:simplenet
try --save - zoo:simplenet
try --profile-runs many zoo:simplenet
try --engine nul zoo:simplenet
try --engine-option operators=fc1 zoo:simplenet
try --engine-option operators=fc1:-3 zoo:simplenet
try --engine-option florp=1 zoo:simplenet
