# Random values that decide how much is computed are named with the remedy. An input without a shape takes any.
need-ort || exit 77
onnx-model topk.onnx <<'END'
input x 1x64
input k 1 int64
node TopK x,k values,at top
output values
END
onnx-model shapeless.onnx <<'END'
input x ?
weight w 16x4
node MatMul x,w y matmul
output y
END
deepclock bench --quiet --runs 3 --warmup 0 --save run.json topk.onnx > text
record run.json 'note("input-decides-work")["text"]'
deepclock bench --quiet --runs 3 --warmup 0 --input k=5 --save run.json topk.onnx > text
record run.json 'note("input-decides-work")'
deepclock bench --quiet --runs 3 --warmup 0 --shape x=2x16 --save run.json shapeless.onnx > text
record run.json 'f("subject", "input/x")' 'f("subject", "items_per_run")'
deepclock bench --quiet --runs 3 --warmup 0 --shape x=2x17 shapeless.onnx > text 2> why
echo $?
