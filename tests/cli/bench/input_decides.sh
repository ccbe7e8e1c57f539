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
# The lengths of an attention are those of all its keys.
onnx-model grouped.onnx <<'END'
input q 1xnewx64
input k 1xnewx32
input v 1xnewx32
input past.k 1x2xpastx16
input past.v 1x2xpastx16
input lengths 1 int32
input total 1 int32
node GroupQueryAttention q,k,v,past.k,past.v,lengths,total y,present.k,present.v gqa com.microsoft num_heads=4,kv_num_heads=2
output y
output present.k
output present.v
END
deepclock bench --quiet --runs 3 --warmup 0 --save run.json grouped.onnx --dim new=2 --dim past=30 > text
record run.json 'f("subject", "input/lengths")' 'f("subject", "input/total")' 'note("input-decides-work")'
