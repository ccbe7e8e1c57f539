# The class and the source line of each operator, which PyTorch's exporter
# wrote into the file.
# A copy here: line breaks must not depend on the path of the tests.
cp "$TESTS/../data/net_places.onnx" net.onnx
model=net.onnx
deepclock cost "$model" --by line
deepclock cost "$model" --by class
deepclock cost "$model" --by line --format csv | cut -d, -f1-3
deepclock cost "$model" --by class --format markdown | head -6
deepclock cost "$model" --by node --format csv | cut -d, -f1-3,20-22
# A model without source lines or classes.
deepclock cost zoo:simplenet --by line
deepclock cost zoo:simplenet --by class --format csv | wc -l
# The same as a tree, whose sums equal the model's.
deepclock cost "$model" --save run.json > /dev/null
deepclock report run.json --tree modules | sed 's/  *$//'
deepclock report run.json --by function --weight macs --top 3 | sed 's/  *$//'
deepclock profile "$model" --runs 3 --warmup 1 --no-roofs --save profile.json > /dev/null 2>&1
python3 - <<'END'
import json
for path in "run.json", "profile.json":
    r = json.load(open(path))
    tree = next(t for t in r["trees"] if t["name"] == "modules")
    sums = {c["key"]: sum(n[2 + i] for n in tree["nodes"]) for i, c in enumerate(tree["columns"])}
    def total(*keys):
        return sum(o[k] for o in r["ops"] for k in keys if isinstance(o.get(k), (int, float)))
    print(path, sums["macs"] == total("macs"), sums["flops"] == total("flops"), sums["bytes"] == total("read_bytes", "write_bytes"))
    metric = next((m["value"] for m in r["metrics"] if m["tag"] == "cost/macs"), None)
    print("no metric" if metric is None else sums["macs"] == metric)
    print("no time" if "time" not in sums else abs(sums["time"] - total("time")) < 1)
    print(next(f for f in tree["frames"] if "file" in f))
END
