# What a file contradicts in itself, of sizes and names: no engine runs it, and no cost is stated.
try() {
	onnx-model odd.onnx
	deepclock inspect odd.onnx | sed -n '/^warning/,/^the rest/p;/^next/p'
	deepclock cost odd.onnx | sed -n 2p
}
printf 'input x Bx5\nweight w 4x4\noutput y Bx4\nnode MatMul x,w y\n' | try
printf 'input x 2x3\ninput z 4x5\noutput y 4x5\nnode Add x,z y\n' | try
printf 'input x 2x3\ninput z 3\noutput y\nnode Concat x,z y cat ai.onnx axis=0\n' | try
printf 'input x Bx4\noutput y Bx4\nnode Add x,q y\n' | try
printf 'input x 2x3\ninput x 2x4\noutput y\nnode Relu x y\n' | try
# Versions that the file states: the engine takes an IR of 0, but no absent one.
for version in "opset 0" "ir -" "ir 0"; do
	printf "$version\ninput x 2x3\noutput y\nnode Relu x y\n" | onnx-model odd.onnx
	deepclock inspect odd.onnx | grep -e ^warning -e ^next
done
# Types, axes and operators that no engine takes.
refuse() {
	onnx-model odd.onnx
	deepclock inspect odd.onnx | sed -n '/^warning/,/^the rest/p;/^next/p' | grep -v '^the rest'
}
printf 'input x 2x3\ninput z 2x3 int64\noutput y\nnode Add x,z y both\n' | refuse
printf 'input x 2x3\noutput y\nnode Concat x,x y cat ai.onnx axis=5\n' | refuse
printf 'opset 13\ninput x 2x3\noutput y\nnode Mish x y\n' | refuse
printf 'opset 13\ninput x 2x3\nweight w 3\noutput y\nnode LayerNormalization x,w y\n' | refuse
