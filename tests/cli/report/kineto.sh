# A file of torch.profiler: operators, the device work that they launched, and the modules that called them.
cat > make.py <<'END'
import json
events = []
def x(cat, name, ts, dur, tid=7, pid=7, **args):
    args = {k.replace("_", " "): v for k, v in args.items()}
    events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": 4508215143000.125 + ts, "dur": dur, "args": args})
# Out of order, as torch.profiler writes them: grouped by kind.
x("cpu_op", "aten::linear", 20, 50, External_id=1, Sequence_number=4, Fwd_thread_id=0)
x("cpu_op", "aten::addmm", 30, 30, External_id=2, Sequence_number=4, Fwd_thread_id=0)
x("cpu_op", "aten::linear", 120, 10, External_id=3, Sequence_number=5, Fwd_thread_id=0)
x("cpu_op", "AddmmBackward0", 200, 40, tid=8, External_id=4, Sequence_number=4, Fwd_thread_id=1)
x("cpu_op", "aten::mm", 210, 20, tid=8, External_id=5)
x("cpu_op", "aten::add_", 250, 5, tid=8, External_id=6)
x("python_function", "nn.Module: Net_0", 10, 140, Python_id=2, Python_parent_id=1)
x("python_function", "nn.Module: Linear_0", 15, 60, Python_id=3, Python_parent_id=2)
x("python_function", "nn.Module: Linear_1", 110, 30, Python_id=4, Python_parent_id=2)
x("python_function", "net.py(3): forward", 12, 130, Python_id=5, Python_parent_id=2)
x("cuda_runtime", "cudaLaunchKernel", 40, 8, correlation=90, External_id=2)
x("kernel", "gemm", 60, 100, tid=20, pid=0, correlation=90, External_id=2, stream=20)
x("kernel", "gemm", 110, 100, tid=20, pid=0, correlation=91, External_id=5, stream=20)
x("gpu_memcpy", "Memcpy HtoD", 0, 3, tid=21, pid=0)
print(json.dumps({"schemaVersion": 1, "baseTimeNanoseconds": 1790857026000000000, "traceEvents": events}))
END
python3 make.py > kineto.json
deepclock report kineto.json | sed 's/  *$//'
deepclock report kineto.json --format json > record.json
python3 - <<'END'
import json
r = json.load(open("record.json"))
for t in r["tables"][:2]:
    print(t["name"], *(c["key"] for c in t["columns"]))
    for row in t["rows"]:
        print(*row)
for t in r["trees"]:
    if t["name"] != "modules":
        continue
    path = []
    for n in t["nodes"]:
        path.append(("" if n[0] < 0 else path[n[0]] + ";") + t["frames"][n[1]]["name"])
        print(path[-1], *n[2:])
for f in r["facts"]:
    if f["section"] == "trace" and f["key"] in ("modules", "allocations", "device_time", "device_time_of_no_operator"):
        print(f["key"], f.get("value", f.get("absent")))
print(r.get("began"))
END
# The same in Perfetto's format.
deepclock report kineto.json -o kineto.pftrace
deepclock report kineto.pftrace --format csv | grep 'operators/aten::addmm'
