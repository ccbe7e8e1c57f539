# A dimension whose name is an expression has brackets where it is multiplied, and none alone; a long one has a letter.
for dim in a+b/2 n-1 sequence/2-padding_length; do
	onnx-model open.onnx << END
input x batchx${dim}x8
weight w 8x4
node MatMul x,w y mm
output y
END
	deepclock cost open.onnx --save run.json --no-history --quiet | sed -n 2p
	record run.json 'f("cost", "macs_formula")' 'f("cost", "read_bytes_formula")'
done
onnx-model alone.onnx << END
input x n-1x8
weight w 8x4
node MatMul x,w y mm
output y
END
deepclock cost alone.onnx --quiet | sed -n '2p;/type/p'
