# What a file contradicts in itself, of sizes and names: no engine runs it, and no cost is stated.
try() {
	onnx-model odd.onnx
	deepclock inspect odd.onnx | sed -n '/^warning/,/^the rest/p;/^next/p'
	deepclock cost odd.onnx | sed -n 2p
}
printf 'input x Bx5\nweight w 4x4\noutput y Bx4\nnode MatMul x,w y\n' | try
printf 'input x 2x3\ninput z 4x5\noutput y 4x5\nnode Add x,z y\n' | try
printf 'input x Bx4\noutput y Bx4\nnode Add x,q y\n' | try
