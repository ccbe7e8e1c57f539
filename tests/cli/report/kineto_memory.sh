# The bytes that each operator of torch.profiler allocated, less the bytes that it freed.
cat > make.py <<'END'
import json
events = []
def x(name, ts, dur, cat="cpu_op"):
    events.append({"ph": "X", "cat": cat, "name": name, "pid": 7, "tid": 7, "ts": ts, "dur": dur, "args": {"External id": len(events) + 1}})
def memory(ts, n, device=0, tid=7):
    events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 7, "tid": tid, "ts": ts,
                   "args": {"Total Allocated": 10 ** 9, "Bytes": n, "Device Type": device, "Addr": 2 ** 63}})
x("aten::conv2d", 0.5, 50)
x("aten::empty", 10.5, 10)
memory(12.5, 4096)
memory(20.5, 100) # at the very end of aten::empty
memory(30.5, -96)
x("aten::mul", 60.5, 20)
x("aten::mul", 65.5, 10) # dispatched again by PyTorch: its bytes count once in the total
memory(66.5, 640)
memory(70.5, 32, 1)
memory(71.5, -8, 5) # from a library, on the CPU
memory(90.5, 7) # outside all operators
memory(66.5, 11, 0, 8) # on a thread without operators
x("aten::relu", 100.5, 5)
print(json.dumps({"schemaVersion": 1, "traceEvents": events}))
END
python3 make.py > kineto.json
cat > rows.py <<'END'
import json, sys
r = json.load(sys.stdin)
table = next(t for t in r["tables"] if t["name"] == "operators")
keys = [c["key"] for c in table["columns"]]
print(*keys[5:])
for row in table["rows"]:
    print(*row[:2], *row[5:])
for f in r["facts"]:
    if f["section"] == "trace" and ("allocations" in f["key"] or "memory" in f["key"]):
        print(f["key"], f.get("value", f.get("absent")))
END
deepclock report kineto.json --format json | python3 rows.py
for word in memory self_cpu_memory_usage device_memory; do
    echo "by $word"
    deepclock report kineto.json --sort $word --top 2 --format json | python3 rows.py
done
deepclock report kineto.json --sort memory | sed 's/  *$//'
# A file without memory events, a file without a device, and a record.
sed 's/\[memory\]/other/g' kineto.json > none.json
deepclock report none.json --sort memory
sed 's/"Device Type": 1/"Device Type": 0/' kineto.json > cpu.json
deepclock report cpu.json --sort device_memory
deepclock bench cmd:true --runs 3 --save r.json --quiet >/dev/null
deepclock report r.json --sort memory
