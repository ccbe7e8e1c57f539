# The call paths of a record: by function, as a tree, around a function, and the difference of two.
cat > make.py <<'END'
import json, sys
scale, extra = float(sys.argv[1]), sys.argv[2:]
frames = [{"name": "main", "file": "a.c", "line": 12, "start_line": 10}, {"name": "fib", "file": "a.c", "line": 5, "start_line": 3},
          {"name": "gemm", "module": "libblas.so"}, *({"name": name} for name in extra)]
nodes = [[-1, 0, 1, 1e6], [0, 1, 2, 2e6 * scale], [1, 1, 4, 4e6 * scale], [2, 2, 8, 8e6], [0, 2, 3, 5e6]]
nodes += [[0, 3 + i, 1, 7e6] for i in range(len(extra))]
print(json.dumps({"schema": 1, "deepclock": "0.1.0", "id": "0", "command": "prog", "trees": [
    {"name": "calls", "title": "Calls", "columns": [{"key": "calls", "title": "calls", "unit": "1"},
     {"key": "time", "title": "time", "unit": "ns"}], "frames": frames, "nodes": nodes},
    {"name": "heap", "title": "Heap", "columns": [{"key": "bytes", "title": "bytes", "unit": "B"}],
     "frames": ["malloc"], "nodes": [[-1, 0, 4096]]}]}))
END
python3 make.py 1 > a.json
python3 make.py 2 added > b.json
shown() { deepclock report "$@" | sed 's/  *$//'; }
shown a.json --by function
shown a.json --sort cumtime --top 2
shown a.json --sort file --format csv | grep -c functions
shown a.json --by function --sort name | grep -A3 'ms  '
shown a.json --tree calls
shown a.json --by path --depth 2
shown a.json --by path --weight calls --top 3
shown a.json --tree heap
shown a.json --tree heap --by function
# 20 ms are spent in fib and below it: the inner call is included in the outer call.
shown a.json --callers fib
shown a.json --callees fib
shown a.json --callers gem
shown --diff a.json b.json
shown --diff a.json b.json --normalise --top 1
shown --diff b.json a.json --sort total --top 1
deepclock report --diff a.json b.json --format folded
deepclock report --diff a.json b.json --format json > diff.json
record diff.json '[t["name"] for t in r["tables"]]' '[c["key"] for c in r["tables"][0]["columns"]]'
# The same for a trace.
echo '{"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}' > trace.json
shown trace.json --by function
# Mistakes.
deepclock report a.json --sort macs --by function
deepclock report a.json --callers nobody
deepclock report a.json --callees m
deepclock report a.json --tree calls --sort self --by path
deepclock report --diff a.json
deepclock report a.json b.json --by function
deepclock report a.json --normalise
deepclock report a.json --callers a --callees b
deepclock report --diff a.json b.json --weight samples
echo $?
# A small share is not 0.
python3 -c 'print("\n".join(f"main;f{i} 3" for i in range(5000)))' > many.folded
deepclock report many.folded | sed -n 2p
