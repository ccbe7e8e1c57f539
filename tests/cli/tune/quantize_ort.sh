# heavy
# Variants by ONNX Runtime's own tools: all three run, their errors are measured, and the lines that make them do so.
need-ort || exit 77
build=$(dirname "$(command -v deepclock)")
for package in onnxruntime onnx; do
	test -e "$build/$package/$package/__init__.py" || {
		echo "no package $package here (tools/setup.sh $build test extras)"
		exit 77
	}
done
PYTHONPATH=$build/onnxruntime:$build/onnx
export PYTHONPATH
deepclock tune --quiet zoo:simplenet --quantize made --only variant --max-error 0.5 --trial 20ms --max-time 8s --save run.json > text
echo $?
ls made
record run.json 'sorted(row[0] for row in t("tune/configurations")["rows"])' \
	'{row[5] for row in t("tune/configurations")["rows"]} <= {"default", "best", "ok", "not tried"}' 'f("space", "variant")'
# Each against the model as it is: the largest difference over the root mean square.
for variant in int8-dynamic int8-static fp16; do
	deepclock accuracy zoo:simplenet "made/simplenet.$variant.onnx" --quiet --save "$variant.json" > text 2>&1
	test -s "$variant.json" && echo "$variant is compared"
done
# A network without products, of a size of its own.
deepclock tune --quiet zoo:conv2d --image-size 32 --quantize made --only variant --max-error 0.5 --trial 20ms --max-time 6s --save run.json > text
echo $?
record run.json 'sorted(row[0] for row in t("tune/configurations")["rows"])' 'note("variant-absent")["text"]'
# Calibrated with the labelled items, of a network with an open size.
deepclock zoo simplenet --symbolic -o open.onnx
python3 -c 'import numpy; numpy.save("items.npy", numpy.random.default_rng(1).standard_normal((5, 784)).astype("f4")); numpy.save("labels.npy", numpy.arange(5))'
deepclock tune --quiet open.onnx --quantize made --only variant --inputs items.npy --labels labels.npy --min-accuracy 0.01 \
	--trial 20ms --max-time 6s --save run.json > text
echo $?
record run.json '[f("tune", "variant_" + v) for v in ("int8-dynamic", "int8-static", "fp16")]'
