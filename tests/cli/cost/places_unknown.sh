# Call paths of a cost whose FLOPs are not known: absent, never 0; a model without modules has the true reason.
onnx-model net.onnx <<'END'
input x 2x8
weight w 8x4
output y
node MatMul x,w m layer1/product
node Frobnicate m f layer1/frob example.org
node Relu m y layer2/relu
END
deepclock cost net.onnx --no-history --save run.json > text
deepclock report run.json --by path
deepclock report run.json --by path --weight bytes
deepclock report run.json --by function
deepclock report run.json --by path --format json > paths.json
record paths.json '[row[:3] for row in r["tables"][0]["rows"]]'
onnx-model open.onnx <<'END'
input x Nx8
weight w 8x4
output y
node MatMul x,w y block/product
END
deepclock cost open.onnx --no-history --save run.json > text
deepclock report run.json --by path
printf 'input x 2x8\noutput y\nnode Relu x y\n' | onnx-model flat.onnx
deepclock cost flat.onnx --no-history --save run.json > text
deepclock report run.json --by path 2>&1
echo $?
