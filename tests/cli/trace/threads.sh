# CPU use and waiting time of each thread: in the record, and the same when the file is read.
zone-program waits || exit
deepclock trace --save run.json -- ./program >out
deepclock report trace.pftrace --format json >read.json
record run.json '[c["key"] for t in r["tables"] if t["name"] == "threads" for c in t["columns"]]'
python3 - run.json read.json <<'END'
import json, sys

def rows(path):
    table = next(t for t in json.load(open(path))["tables"] if t["name"] == "threads")
    keys = [c["key"] for c in table["columns"]]
    return [dict(zip(keys, row)) for row in table["rows"]]

live, read = rows(sys.argv[1]), rows(sys.argv[2])
plain = lambda rows: [{k: v for k, v in row.items() if not isinstance(v, dict)} for row in rows]
print("the same", plain(live) == plain(read))
main = next(row for row in live if row["name"] == "program")
print("main waits", main["waited"] > 20e6, "uses", main["cpu"] > 0, main["minor_faults"] > 0, "of", main["lifetime"] > 20e6)
print("so do others", sum(row["waited"] > 20e6 for row in live if isinstance(row["waited"], int)) > 1)
END
# The counters in formats of other viewers.
deepclock report trace.pftrace --format chrome >out.json
python3 -c 'import json; print(sorted({e["name"] for e in json.load(open("out.json"))["traceEvents"] if e["ph"] == "C"} -
	{"run queue wait", "CPU share", "major page faults"}))'
