# A data-dependent dimension is a symbol of the formula, and the note defines it.
onnx-model net.onnx <<'EOF'
input x Nx8
weight table 8x4
weight w 4x5
output y
node NonZero x z find
node Gather table,z rows look_up
node MatMul rows,w y product
EOF
deepclock cost --details net.onnx
echo $?
deepclock cost net.onnx --dim N=3 --format json > run.json
record run.json 'm("cost/macs")["absent"]' 'note("sizes-of-values")["text"]' 'note("open-sizes") is None' \
	'[f["value"] for f in r["facts"] if f["key"] == "macs_formula"]'
