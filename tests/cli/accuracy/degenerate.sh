# Outputs that are equal because they are empty or constant: this agreement is no evidence.
need-ort || exit 77
model() {
	{ echo 'input x 4x8'; echo 'output y'; cat; } | onnx-model "$1.onnx"
}
model zero <<'EOF'
node Sub x,x y
EOF
model nan <<'EOF'
node Abs x a
node Neg a n
node Sqrt n y
EOF
model inf <<'EOF'
node Sub x,x z
node Log z y
EOF
model empty <<'EOF'
weight w 8x0
node MatMul x,w y
EOF
model fine <<'EOF'
node Neg x y
EOF
for name in zero nan inf empty fine; do
	deepclock accuracy --quiet $name.onnx $name.onnx --save run.json > /dev/null
	echo "$name $?"
	record run.json 'f("difference", "verdict")' '(note("outputs-degenerate") or {}).get("severity")' \
		'(note("outputs-degenerate") or {}).get("text")'
done
deepclock bench --quiet zero.onnx --runs 3 --check-outputs --save run.json > /dev/null
echo $?
record run.json 'f("difference", "verdict")' 'note("outputs-degenerate") is not None'
