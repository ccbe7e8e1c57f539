# The default: a sentence, the types that matter, at most 15 lines.
deepclock cost zoo:resnet50
deepclock cost zoo:resnet50 | wc -l
onnx-model net.onnx <<'EOF'
input x batchx64
weight w 64x32
weight v 32x8
output y
node MatMul x,w a first
node Relu a b relu
node MatMul b,v y second
EOF
deepclock cost net.onnx
deepclock cost zoo:simplenet --by module --top 3
# What was asked for is in the sentence.
deepclock cost zoo:simplenet --backward --as thop | sed -n 2,3p
