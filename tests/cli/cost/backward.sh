# A training step: twice the forward pass's products after the first layer, once for the first layer,
# whose input needs no gradient: 100,352 + 2 x 1,280.
deepclock cost zoo:simplenet --backward --format json > run.json
record run.json '[(x["tag"], x["value"]) for x in r["metrics"] if "backward" in x["tag"] or "train" in x["tag"]]' \
	'f("plan", "backward")'
# Of several products the first is that of the input, which needs no gradient here; operands of the others do.
onnx-model lstm.onnx <<'EOF'
input x 10x2x32
weight w 1x64x32
weight r 1x64x16
output y
node LSTM x,w,r y lstm
EOF
deepclock cost lstm.onnx --backward --format json > run.json
record run.json 'm("cost/macs")["value"]' 'm("cost/backward_macs")["value"]'
# Each product of the experts has operands of its own: the first has the input, the second what depends on weights.
onnx-model moe.onnx <<'EOT'
input x 5x8
weight r 8x4
weight a 4x16x8
weight b 4x8x16
output y
node MatMul x,r p
node MoE x,p,a,-,b y moe com.microsoft k=2
EOT
deepclock cost moe.onnx --backward --format json > run.json
record run.json 'm("cost/macs")["value"]' 'm("cost/backward_macs")["value"]'
