# Data-dependent sizes are taken from one real run; sizes from shape inference stay the same.
need-ort || exit 77
onnx-model net.onnx <<'END'
input x 2x3
output y
node NonZero x n
node Abs n y
END
for run in "" --run; do
	deepclock cost $run net.onnx --format json > run.json
	echo $?
	record run.json 'r["ops"][0]["outputs"][0]["shape"]' 'r["ops"][1]["flops"]' 'f("cost", "run_filled")' \
		'note("shape-differs")'
done
deepclock cost zoo:simplenet --run --format json > run.json
echo $?
record run.json 'm("cost/macs")["value"]' 'f("cost", "run_differ")' 'f("cost", "run_values") > 0'
# Open sizes get the usual values, as in bench.
printf 'input x Nx4\nweight w 4x4\noutput y\nnode MatMul x,w y\n' | onnx-model open.onnx
deepclock cost open.onnx --run
