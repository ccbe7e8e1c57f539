# Arithmetic of open sizes counts nothing, as it does when the sizes are given.
onnx-model net.onnx <<'EOF'
input x BxTx8
weight w 8x3
output y
output nn
node Size x n
node Mul n,n nn
node MatMul x,w y
EOF
deepclock cost net.onnx --format json > open.json
deepclock cost net.onnx --dim B=2 --dim T=3 --format json > run.json
record open.json '[f["value"] for f in r["facts"] if f["key"] == "flops_formula"]' 'f("cost", "folded")'
record run.json 'm("cost/flops")["value"]' 'f("cost", "folded")'
