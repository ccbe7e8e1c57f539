# All sizes that a model leaves open are named at once, with a command that works, by every command.
need-ort || exit 77
onnx-model det.onnx <<'END'
input x px3xhxw
weight w 8x3x3x3
node Conv x,w c conv
node Relu c y relu
output y
END
# Only a height and a width of 32 or more that are equal give the sum its shape.
onnx-model marks.onnx <<'END'
input x Nx3x?x?
weight w 8x3x3x3
node Conv x,w y conv
output y
END
onnx-model state.onnx <<'END'
input state 2xnx16
input in nx16
node Add state,in y add
node Identity in z id
output z
output y
END
for command in bench profile throughput load pitfalls accuracy "cost --run" "compare det.onnx" "bench zoo:simplenet"; do
	deepclock $command det.onnx
	echo $?
done
deepclock bench det.onnx 2>&1 | sed 's/.*for example: \(.*\) (or \(.*\))/\1\n\2/' > commands
cat commands
sh -c "$(sed -n 1p commands) --runs 3 --warmup 1 --save run.json --no-history" > text && record run.json \
	'f("subject", "input/x")' 'f("subject", "items_from")'
deepclock bench det.onnx $(sed -n 2p commands) --runs 3 --warmup 1 --save run.json > text && record run.json \
	'f("subject", "input/x")'
echo "--- some are given"
deepclock bench det.onnx --batch 2 --dim h=32 --dim w=48 --runs 3 --warmup 1 --save run.json > text
record run.json 'f("subject", "input/x")' 'f("subject", "items_per_run")'
deepclock bench det.onnx --batch 2 --dim w=48
deepclock bench det.onnx --batch 2 --dim z=48
echo "--- two that are called ? are two"
deepclock bench marks.onnx
deepclock bench marks.onnx --dim '?=32'
deepclock bench marks.onnx --shape 2x3x32x64 --runs 3 --warmup 1 --save run.json > text
record run.json 'f("subject", "input/x")' 'f("subject", "items_from")'
deepclock cost marks.onnx --shape 2x3x32x64 --save run.json > text
record run.json 'r["ops"][0]["outputs"][0]["shape"]'
echo "--- a state is no batch"
deepclock bench state.onnx --dim n=3 --runs 3 --warmup 1 --save run.json > text
record run.json 'f("subject", "items_per_run")' 'f("subject", "items_from")'
echo "--- an engine that takes no inputs needs no sizes"
deepclock bench det.onnx --engine null --runs 3 --warmup 1 --save run.json > text
record run.json 'f("engine", "name")'
