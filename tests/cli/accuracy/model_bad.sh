# Items, models and labels that do not fit.
need-ort || exit 77
printf 'input x Nx3\noutput y\nnode Identity x y\n' | onnx-model same.onnx
printf 'input x Nx3\ninput m Nx3\noutput y\nnode Add x,m y\n' | onnx-model pair.onnx
printf 'input x Nx1\noutput y\nnode Identity x y\n' | onnx-model one.onnx
printf 'input x Nx3\noutput y\nnode Transpose x y\n' | onnx-model turned.onnx
printf 'input x Nx3xH\noutput y\nnode Identity x y\n' | onnx-model open.onnx
npy x.npy '<f4' 5x3 .5 .3 .2
npy x1.npy '<f4' 5x1 .5
npy u.npy '|u1' 5x3 5 3 2
npy x4.npy '<f4' 4x3 .5 .3 .2
npy w.npy '<f4' 5x4 .5
npy y.npy '<i8' 5 0
try() {
	echo "--- $*"
	deepclock accuracy --details --quiet --labels y.npy "$@" > out
	echo "exit $?"
}
try --inputs x4.npy same.onnx
try --inputs w.npy same.onnx
try --inputs u.npy same.onnx
try --inputs missing.npy same.onnx
try --inputs z=x.npy same.onnx
try --inputs x.npy --output z same.onnx
try --inputs x.npy pair.onnx
try --inputs x=x.npy --inputs m=x.npy pair.onnx
try --inputs x=x.npy --inputs x.npy same.onnx
try --inputs x1.npy one.onnx
try --inputs x.npy turned.onnx
printf 'input x Nx3x2\noutput y\nnode Identity x y\n' | onnx-model map.onnx
npy map.npy '<f4' 5x3x2 .5 .3 .2
try --inputs map.npy map.onnx
try --inputs x.npy open.onnx
try --inputs x.npy missing.onnx
try --inputs x.npy --engine null same.onnx
npy nan.npy '<f4' 5x3 .5 .3 .2 .1 nan .2 .5 .3 .2 .5 .3 .2 .5 .3 .2
try --inputs nan.npy same.onnx
sed -n '/^  accuracy *[0-9]/p; /^error/,$p' out
