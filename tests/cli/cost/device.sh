# Which operators are bound by what on a device, from its own peaks; of a device that is not measured, the reason.
. opencl || exit 77
deepclock cost zoo:resnet18 --device opencl --quiet --save run.json > text 2> err
echo $?
sed -n 2,4p text | tr -s '\n ' ' ' | sed 's/[0-9.]* [mnµ]*s,/N ms,/; s/[0-9]* % of it in [0-9]* of/N % of it in N of/'
echo
test "$(wc -l < text)" -le 15
echo $?
python3 - << 'END'
import json

r = json.load(open("run.json"))
roofs = {f["key"]: f.get("value") for f in r["facts"] if f["section"] == "roofs"}
peak, memory = roofs["peak_fp32"], roofs["bandwidth_dram"]
metric = next(m for m in r["metrics"] if m["tag"] == "cost/attainable")
least, n = 0, {"compute": 0, "memory": 0}
for o in r["ops"]:
    moved = o["read_bytes"] + o["write_bytes"]
    if not moved:
        continue
    by = {"compute": o["flops"] / peak, "memory": moved / memory}
    least += max(by.values())
    n[o["bound"]] += 1
    if by[o["bound"]] < max(by.values()) or o["flops"] and abs(o["roof"] * max(by.values()) / o["flops"] - 1) > 1e-9:
        print("strange:", o)
    if (o["flops"] / moved > roofs["balance_fp32"]) != (o["bound"] == "compute"):
        print("not by the balance point:", o)
print("attainable", abs(metric["value"] / (1e9 * least) - 1) < 1e-9)
table = next(t for t in r["tables"] if t["name"] == "cost/bounds")
print(all(row[1] == n[row[0]] for row in table["rows"]), sum(n.values()))
END
record run.json 'f("roofs", "of")' 'f("roofs", "bandwidth_l1")' 'f("roofs", "peak_bf16")'
# ONNX Runtime's WebGPU has no driver here.
deepclock cost zoo:simplenet --device webgpu --quiet --save run.json > text 2>&1
echo $?
record run.json 'note("no-roofs")["text"]' 'm("cost/attainable").get("absent")' '"roof" in r["ops"][0]'
