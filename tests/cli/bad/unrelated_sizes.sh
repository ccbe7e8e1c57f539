# The usual sizes are blamed for failures that sizes may cause, and for no others.
need-ort || exit 77
printf 'input x Nx8\nnode Relu x y\noutput y\noutput missing\n' | onnx-model unmade.onnx
printf 'input x Nx8\nnode Reshape x,s y\noutput y\ninput s 2 int64\n' | onnx-model shape.onnx
printf 'input i N int64\nweight w 10x4\nnode Gather w,i y\noutput y\n' | onnx-model index.onnx
printf 'input x Nx8\nexternal Batchwise 8x8\nnode MatMul x,Batchwise y\noutput y\n' | onnx-model external.onnx
for words in unmade.onnx external.onnx "index.onnx --input i=1000" "shape.onnx --input s=7"; do
	deepclock bench $words --no-history --runs 5 2> why > out
	echo $?
	grep -c 'the usual ones may not fit' why
done
