# Impossible graphs.
try() {
	onnx-model net.onnx
	deepclock cost net.onnx --quiet --format json > run.json 2>&1
	echo $?
	test -s run.json && sed -n '1s/^deepclock/&/p' run.json
	grep -q '^{' run.json && record run.json 'm("cost/macs")["absent"]'
}
echo - cycle
try <<'END'
input x 2x2
output y
node Add x,b a
node Neg a b
node Neg b y
END
echo - made twice
try <<'END'
input x 2x2
output y
node Neg x y
node Abs x y
END
echo - too large for 64 bits
try <<'END'
input x 4000000000x4000000000
input w 4000000000x4000000000
output y
node MatMul x,w y
END
echo - sizes that do not fit
try <<'END'
input x 2x3
input w 4x5
output y
node MatMul x,w y
END
echo - nobody makes it
try <<'END'
input x 2x3
output y
node MatMul x,w y
END
