# The remedy of a size that the model writes as a sum names what --dim takes, and makes numbers.
onnx-model net.onnx <<'END'
input x NxSEQ+1x8
input past PASTxPAST+SEQx8
weight w 8x4
output y
output z
node MatMul x,w y product
node MatMul past,w z other
END
deepclock cost net.onnx
deepclock cost net.onnx --dim N=1 --dim PAST=1 --dim SEQ+1=1 --dim PAST+SEQ=1 | sed -n 2p
