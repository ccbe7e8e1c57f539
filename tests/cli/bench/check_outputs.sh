# Outputs that differ from those of an unoptimised run: a fast but wrong result fails the check.
need-ort || exit 77
printf 'input x 4x4\noutput y\nnode RandomNormalLike x y\n' | onnx-model random.onnx
printf 'input x 4x4\noutput y\nnode Neg x y\n' | onnx-model same.onnx
try() {
	deepclock bench --quiet --runs 3 --warmup 0 --save run.json "$@" > out 2> err
	echo "exit $?"
	sed "s/: [0-9].*/: N/" err
	record run.json 'f("difference", "verdict") in (None, "identical", "close")' 'r["incomplete"]' 'm("runs/count")["value"]' \
		'(note("outputs-differ") or {}).get("severity")' '[t["name"] for t in r.get("tables", [])]'
}
echo '--- without'
try random.onnx
echo '--- the same'
try --check-outputs same.onnx
try --check-outputs --processes 2 same.onnx
try --check-outputs zoo:resnet18 --image-size 64 --threads 2
# The reference does without what would contradict it.
try --check-outputs --engine-option threads=2 --engine-option denormals=flush same.onnx
echo '--- other'
printf 'input x 4x4\noutput y\nnode Mul x,x y\n' | onnx-model small.onnx
try --check-outputs --input x=1e-20 --engine-option denormals=flush small.onnx
echo '--- random: the reference differs from itself'
try --check-outputs random.onnx
record run.json 'note("outputs-not-compared")["text"]'
echo '--- no outputs'
try --check-outputs --engine null zoo:simplenet
record run.json 'note("outputs-not-compared")["severity"]'
deepclock bench --quiet --runs 3 --check-outputs -- true
echo "exit $?"
