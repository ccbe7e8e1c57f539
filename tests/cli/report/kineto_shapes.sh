# Operators of torch.profiler, separated by the shapes of their inputs.
cat > make.py <<'END'
import json
events = []
def x(name, ts, dims, cat="cpu_op"):
    args = {"External id": len(events) + 1}
    if dims is not None:
        args["Input Dims"] = dims
    events.append({"ph": "X", "cat": cat, "name": name, "pid": 7, "tid": 7, "ts": ts, "dur": 10, "args": args})
x("aten::mm", 0, [[2, 3], [3, 4]])
x("aten::mm", 20, [[2, 3], [3, 4]])
x("aten::mm", 40, [[8, 3], [3, 4]])
x("aten::add_", 60, [[2, 2], [], []])
x("aten::cat", 80, [[[1, 2], [3, 2]], []])
x("aten::empty", 100, [[], []])
x("aten::relu", 120, None)
x("aten::strange", 140, [[[[1, [2]], 5]], {"a": [1]}, "x", 7])
x("aten::long", 160, [[10 ** 9] * 16] * 100)
x("nobody's", 180, [[2, 3]], "user_annotation")
print(json.dumps({"traceEvents": events}))
END
python3 make.py > kineto.json
cat > rows.py <<'END'
import json, sys
table = next(t for t in json.load(sys.stdin)["tables"] if t["name"] == "operators")
for name, calls, *rest in sorted(table["rows"]):
    print(calls, name[:60], len(name) if len(name) > 60 else "")
END
deepclock report kineto.json --input-shapes --format json | python3 rows.py
echo all of one name
deepclock report kineto.json --format json | python3 rows.py | grep mm
sed -i 's/Input Dims/other/g' kineto.json
deepclock report kineto.json --input-shapes --format json | grep -o 'no operator of the file[^"]*'
deepclock report kineto.json --input-shapes -o out.pftrace
deepclock bench cmd:true --runs 3 --save r.json --quiet >/dev/null
deepclock report r.json --input-shapes
