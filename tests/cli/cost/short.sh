# The default: a summary sentence and the most expensive types, at most 15 lines.
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
# The requested size is in the summary sentence.
deepclock cost zoo:simplenet --backward --as thop | sed -n 2,3p
# A share just below 100 % is not printed as 100 %.
onnx-model most.onnx <<'EOF'
input x 1x4096
weight w 4096x4096
weight v 4096x1
output y
node MatMul x,w a first
node Gemm a,v y second
EOF
deepclock cost most.onnx | grep -E 'carries|MatMul'
# An input of a wrong rank: the message names the input and the ranks.
onnx-model rank.onnx <<'EOF'
input x 5x4
weight w 1x32x4
weight r 1x32x8
output y
node LSTM x,w,r y lstm
EOF
deepclock cost rank.onnx | head -5
