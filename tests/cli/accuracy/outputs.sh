# Outputs of a real engine: settings that change them slightly, models that change them greatly.
need-ort || exit 77
try() {
	deepclock accuracy --quiet --save run.json "$@" > out
	echo "exit $?"
	record run.json 'f("difference", "verdict")' 'f("difference", "inputs")'
}
show='r["tables"][0]["rows"]'
echo '--- optimisations'
deepclock accuracy --quiet --save run.json zoo:resnet18 --image-size 64 --vary opt=none,all --input-pool 2 > out
echo "exit $?"
record run.json 'f("difference", "verdict") in ("identical", "close")' 'f("difference", "inputs")' '0 <= m("difference/max_abs")["value"] < 1e-3' 'm("difference/cosine")["value"] > 0.999999' \
	'note("outputs-differ")' "len($show)"
echo '--- the same twice'
try zoo:simplenet --vary seed=7,7
record run.json 'm("difference/max_abs")["value"]' 'm("difference/cosine")["value"]'
printf 'input x Nx4\noutput y\nnode Identity x y\n' | onnx-model same.onnx
printf 'input z Nx4\nweight w -\noutput out\nnode Add z,w out\n' | onnx-model named.onnx
printf 'input x Nx4\noutput y\nnode Neg x y\n' | onnx-model other.onnx
printf 'input x Nx4\noutput y\nnode Transpose x y\n' | onnx-model shape.onnx
printf 'input x Nx4\noutput y\noutput z\nnode Identity x y\nnode Sqrt x z\n' | onnx-model more.onnx
printf 'input x Nx4\noutput z\nnode Log x z\n' | onnx-model log.onnx
printf 'input x Nx4\noutput z\nnode Sqrt x z\n' | onnx-model sqrt.onnx
echo '--- another name'
try --batch 2 same.onnx named.onnx
record run.json 'm("difference/max_abs")["value"]'
echo '--- another value'
try --batch 2 same.onnx other.onnx
record run.json 'f("difference", "reference")' 'note("outputs-differ")["severity"]' 'm("difference/cosine")["value"] < -0.999' \
	'm("difference/max_rel")["value"]'
echo '--- a tolerance that is wide enough'
try --batch 2 same.onnx other.onnx --rtol 2
echo '--- and one that is not'
try --batch 2 same.onnx other.onnx --rtol 1.99 --atol 0
echo '--- another shape'
try --batch 2 same.onnx shape.onnx
record run.json 'note("outputs-differ")["text"]' 'm("difference/max_abs")' 'f("result", "answer")'
echo '--- several models, of which one differs'
try --batch 2 same.onnx named.onnx other.onnx
record run.json 'f("result", "answer").split(",")[1]' 'f("result", "answer").split(":")[0]'
echo '--- an output more'
try --batch 2 same.onnx more.onnx
record run.json 'note("outputs-differ")["text"]'
echo '--- NaN in the same places and in others'
try --batch 9 sqrt.onnx sqrt.onnx
try --batch 9 sqrt.onnx log.onnx
record run.json 'r["tables"][0]["rows"][0][7]' 'm("difference/max_abs")["value"] > 0'
echo '--- inputs that cannot be the same'
deepclock accuracy --quiet --batch 2 same.onnx zoo:simplenet
echo "exit $?"
