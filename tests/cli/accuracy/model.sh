# A model that is run on labelled items: the input values are its scores.
need-ort || exit 77
printf 'input x Nx3\noutput y\nnode Identity x y\n' | onnx-model same.onnx
printf 'input x 2x3\noutput y\nnode Identity x y\n' | onnx-model two.onnx
printf 'input a Nx3\noutput y\nnode Neg a y\n' | onnx-model other.onnx
npy x.npy '<f4' 5x3 .5 .3 .2 .4 .4 .2 0 0 1 .1 .2 .9 0 .7 .7
npy x8.npy '<f8' 5x3 .5 .3 .2 .4 .4 .2 0 0 1 .1 .2 .9 0 .7 .7
npy y.npy '<i8' 5 0 1 2 2 2
report() {
	deepclock accuracy --details --quiet --labels y.npy --save run.json "$@" > out
	echo "exit $?"
	sed -n '/^Classification report/,/^weighted avg/p' out
}
report --inputs x.npy --target-names 'class 0,class 1,class 2' --top-k 2 same.onnx
record run.json 'm("accuracy/overall")["value"]' 'm("accuracy/top_k")["value"]' 'f("subject", "input/x")'
for options in '--batch 1' '--batch 2' '--batch 5' '--batch 64'; do
	report --inputs x.npy $options same.onnx | cksum
done
report --inputs x=x.npy same.onnx | cksum
report --inputs x8.npy same.onnx | cksum
report --inputs x.npy two.onnx | cksum
echo '--- two settings'
report --inputs x.npy --vary opt=none,all same.onnx | head -2
record run.json 'f("difference", "verdict")' 'm("accuracy/overall/opt=all")["value"]' \
	'[[c.get("value", c) if isinstance(c, dict) else c for c in row] for row in r["tables"][2]["rows"]]'
echo '--- two models'
report --inputs x.npy same.onnx other.onnx | head -2
record run.json 'f("difference", "verdict")' 'r["tables"][2]["name"]' 'r["tables"][2]["rows"][1][2:]' \
	'note("outputs-differ")["severity"]'
echo '--- both in the short result'
deepclock accuracy --quiet --inputs x.npy --labels y.npy same.onnx other.onnx 2> err | sed -n '4,6p'
echo '--- labels of text'
printf 'a\nb\nc\nc\nc\n' > y.csv
deepclock accuracy --details --quiet --labels y.csv --inputs x.npy same.onnx
echo "exit $?"
deepclock accuracy --details --quiet --labels y.csv --inputs x.npy --target-names a,b,c same.onnx | sed -n '/^Classification report/,/^weighted avg/p'
echo '--- a first input that all items share'
printf 'input s 1\ninput x Nx3\noutput y\nnode Mul s,x y\n' | onnx-model scaled.onnx
report --inputs x=x.npy --input s=1 --batch 2 scaled.onnx | cksum
