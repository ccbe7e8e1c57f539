# Input values given in words, and a number of items that differs from the batch.
need-ort || exit 77
onnx-model net.onnx <<'END'
input x Nx4
node Identity x y
output y
END
for values in zeros x=ones 0.5 'range(-1,1)' x=-2; do
	deepclock bench net.onnx --batch 2 --input "$values" --runs 3 --warmup 1 --items 40 --save run.json > text
	record run.json 'f("subject", "input/x")' 'f("subject", "items_per_run")' 'f("subject", "items_from")'
done
deepclock bench net.onnx --batch 2 --input 'range(1)'
deepclock bench net.onnx --batch 2 --input none.npy
deepclock bench net.onnx --input 0.5 --runs 3 --warmup 1 --save run.json > text
echo $?
record run.json 'f("subject", "usual_sizes")'
for number in nan 1e400 o.5; do
	deepclock bench net.onnx --batch 2 --input "$number"
done
