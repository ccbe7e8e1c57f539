# The call paths of a record in formats of other programs: by --format, or by the extension of -o.
cat > run.json <<'END'
{"schema": 1, "deepclock": "0.1.0", "id": "0", "command": "prog", "trees": [
 {"name": "samples", "title": "Samples",
  "columns": [{"key": "samples", "title": "samples", "unit": "1"}, {"key": "time", "title": "time", "unit": "ns"}],
  "frames": [{"name": "main", "file": "a.c", "line": 12, "start_line": 10, "module": "prog"},
             {"name": "gemm", "module": "libblas.so"}, {"name": "gemm", "file": "a.c"}],
  "nodes": [[-1, 0, 1, 1000], [0, 1, 4, 4000], [1, 1, 2, 2000], [0, 2, 3, 3000]]},
 {"name": "heap", "title": "Heap", "columns": [{"key": "bytes", "title": "bytes", "unit": "B"}],
  "frames": ["malloc"], "nodes": [[-1, 0, 9007199254740993]]}]}
END
deepclock report run.json --format folded
deepclock report run.json -o by_ending.folded --weight samples && cat by_ending.folded
deepclock report run.json --format folded --tree heap
deepclock report run.json --format callgrind
deepclock report run.json -o run.pstats && python3 -c '
import pstats
for f, (primitive, calls, own, total, callers) in sorted(pstats.Stats("run.pstats").stats.items()):
    print(f, primitive, calls, round(own * 1e9), round(total * 1e9), sorted(callers))'
deepclock report run.json -o run.speedscope.json.gz && gzip -cd run.speedscope.json.gz | python3 -c '
import json, sys
for p in json.load(sys.stdin)["profiles"]:
    print(p["name"], p["unit"], p["samples"], p["weights"], p["endValue"])'
deepclock report run.json -o run.pb.gz && gzip -t run.pb.gz && echo written
# The same for a trace, if a tree is requested.
echo '{"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}' > trace.json
deepclock report trace.json --format folded --tree zones
deepclock report trace.json --format folded
# Mistakes.
deepclock report run.json --format folded --tree none
deepclock report run.json --format folded --weight none
deepclock report run.json run.json --format folded
echo '{"schema": 1, "deepclock": "0.1.0", "id": "0"}' > empty.json
deepclock report empty.json --format pprof
deepclock report run.json -o run.pstats.gz
deepclock report run.json --format chrome
echo $?
