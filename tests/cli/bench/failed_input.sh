# The hint after a failed run names the input of the node that failed, not the first integer; no values that were given.
need-ort || exit 77
onnx-model range.onnx << 'END'
input start - int64
input limit - int64
input delta - int64
node Range start,limit,delta y steps
output y
END
onnx-model reshape.onnx << 'END'
input mode - int64
input data 2x3
input shape 2 int64
node Reshape data,shape y rs
node Identity mode m id
output y
output m
END
try() {
	deepclock bench --quiet --no-history --runs 3 --warmup 0 "$@" 2> err
	grep -o "its random.*" err || echo none
}
try range.onnx
try range.onnx --input delta=0
try reshape.onnx
# An operator without a name is found by its type; the value that failed is not the one to try.
onnx-model unnamed.onnx << 'END'
input x 4
input axis - int32
node CumSum x,axis y
output y
END
onnx-model divide.onnx << 'END'
input a 100 int64
input b 100 int64
node Div a,b y
output y
END
try unnamed.onnx
try divide.onnx
