# Open sizes that --dim cannot name: the proposed words are taken, and leave nothing open.
for shape in '?x?x4' 'batchx?x4' unkx4 batchx4; do
	onnx-model open.onnx << END
input x $shape
weight w 4x5
node MatMul x,w y mm
output y
END
	deepclock cost open.onnx --quiet --save open.json --no-history > text
	words=$(sed -n 's/.*formula of [a-z]*: for numbers add\( it\| them\)* *\(.*\) with your sizes.*/\2/p' open.json)
	echo "$words"
	eval deepclock cost open.onnx --quiet $words | sed -n 2p
done
