# Operators without a name, whose last one makes the result of an Identity, are in one row each.
need-ort || exit 77
onnx-model net.onnx <<'EOF'
input x 2x8
weight w 8x8
output y
node MatMul x,w t
node Relu t r
node MatMul r,w m
node Identity m y
EOF
deepclock profile --quiet --threads 1 --runs 5 --warmup 1 --profile-runs 10 --no-roofs --no-memory --format json net.onnx \
	> run.json 2> err
echo $?
record run.json '[(o["name"], o["type"], o["macs"], "time" in o) for o in r["ops"] if o["type"] != "(engine)"]'
