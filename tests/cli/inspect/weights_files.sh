# Files of weights that do not hold what the model states, and models that ONNX Runtime refuses: no next command.
python3 - <<'END'
def number(v):
    out = b""
    while v > 127:
        out, v = out + bytes([v & 127 | 128]), v >> 7
    return out + bytes([v])

def put(field, v):
    if isinstance(v, int):
        return number(field << 3) + number(v)
    v = v.encode() if isinstance(v, str) else v
    return number(field << 3 | 2) + number(len(v)) + v

def value(name):
    return put(1, name) + put(2, put(1, put(1, 1) + put(2, put(1, put(1, 4)) + put(1, put(1, 4)))))

def model(name, data, ir=8, opset=17, outputs=("y",), more=b""):
    weight = put(1, 4) + put(1, 4) + put(2, 1) + put(8, "w") + data
    node = put(1, "x") + put(1, "w") + put(2, "y") + put(4, "MatMul")
    graph = put(1, node) + put(2, "g") + put(5, weight) + put(11, value("x")) + b"".join(put(12, value(o)) for o in outputs)
    with open(name + ".onnx", "wb") as file:
        file.write(put(1, ir) + put(7, graph) + (put(8, put(2, opset)) if opset else b"") + more)

def external(**pairs):
    return b"".join(put(13, put(1, k) + put(2, v)) for k, v in pairs.items()) + put(14, 1)

raw = put(9, bytes(64))
open("w.bin", "wb").write(bytes(64))
open("short.bin", "wb").write(bytes(10))
model("good", external(location="w.bin", offset="0", length="64"))
model("below", external(location="./a/../w.bin"))
model("short", external(location="short.bin", offset="0", length="64"))
model("offset", external(location="w.bin", offset="1", length="64"))
model("negative", external(location="w.bin", offset="0", length="-7"))
model("length", external(location="w.bin", offset="0", length="32"))
model("outside", external(location="a/../../w.bin"))
model("raw", put(9, bytes(15)))
model("unmade", raw, outputs=("y", "z"))
model("none", raw, outputs=())
model("opset", raw, opset=40)
model("no_opset", raw, opset=0)
model("ml_opset", raw, more=put(8, put(1, "ai.onnx.ml") + put(2, 9)))
model("ir", raw, ir=99)
END
mkdir a
for model in good below short offset negative length outside raw unmade none opset no_opset ml_opset ir; do
	echo "== $model"
	COLUMNS=200 deepclock inspect $model.onnx | grep -e '^  weights' -e '^next' -e '^warning'
done
deepclock inspect outside.onnx --details | sed -n "/^Weights outside/,/^$/p"
