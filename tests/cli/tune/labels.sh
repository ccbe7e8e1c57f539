# heavy
# A floor of accuracy in place of the outputs: the model predicts the class of the greatest input.
need-ort || exit 77
printf 'input x Nx3\noutput y\nnode Relu x y\n' | onnx-model relu.onnx
npy x.npy '<f4' 4x3 5 1 0 0 5 1 1 0 5 5 1 0
npy y.npy '<i8' 4 0 1 2 1
search() {
	deepclock tune --quiet --only spin,opt --threads 2 --trial 20ms --max-time 10s --labels y.npy --inputs x.npy \
		--min-accuracy "$1" --save run.json relu.onnx > text
	echo $?
}
# Three of four are right.
search 0.7
record run.json '"inaccurate" in {row[5] for row in t("tune/configurations")["rows"]}' \
	'{row[4] for row in t("tune/configurations")["rows"] if not isinstance(row[4], dict)} <= {0.75}' \
	'[c["key"] for c in t("tune/front")["columns"]]' 'm("tune/accuracy").get("value", 0.75)'
# No configuration predicts that many correctly, so none can be the answer.
search 0.9
record run.json 'f("tune", "configuration")'
# Labels of other items are refused before the first trial.
npy wrong.npy '<i8' 3 0 1 2
deepclock tune --quiet --only spin --labels wrong.npy --inputs x.npy --min-accuracy 0.7 relu.onnx
echo $?
