# No next command is proposed where none works, and the reason is stated.
for model in "input x 2x3 text" "input x 2x3 float32"; do
	{ echo "$model"; echo "node Florp x y florp"; echo "output y 2x3"; } | onnx-model odd.onnx
	deepclock inspect odd.onnx --save run.json --no-history
	record run.json 'f("result", "next")' 'note("not-runnable")["severity"]'
done
# An engine of the user's may have the operator.
deepclock inspect odd.onnx --engine plugin:mine.so | grep -e '^next' -e '^warning'
# Runtimes for inference have no operators of training.
printf 'opset 17\ninput x 3\ninput t - int64\ninput g 3\noutput y\nnode Momentum x,t,g y step ai.onnx.preview.training\n' |
	onnx-model odd.onnx
deepclock inspect odd.onnx | sed -n '/^warning/,/^the rest/p;/^next/p'
# A conversion changed the type that the file states, and not the Cast.
printf 'input x 2x3\noutput y 2x3 int64\nnode Cast x y cast ai.onnx to=1\n' | onnx-model odd.onnx
deepclock inspect odd.onnx | sed -n '/^warning/,/^the rest/p;/^next/p'
