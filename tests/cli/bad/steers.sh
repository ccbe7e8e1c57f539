# Names with terminal control characters, in a record's calls and in a trace, in every format of report:
# none is printed unescaped, compressed or not.
python3 - <<'END' || exit
import json
names = ["\x1b[31mred", "c1\x9b31m", "turn\u202e\u202a\u200f", "isolate\u2066\u2069", "line\r\nend\x07", "del\x7f\x85", "tab\tname"]
frames = [{"name": n, "file": n + ".c", "module": n} for n in names]
nodes = [[i - 1, i, 1000, 5] for i in range(len(names))]
record = {
    "schema": 1, "deepclock": "0.1.0", "id": "0" * 32, "began": "2026-01-01T00:00:00Z", "command": names[0], "incomplete": False,
    "facts": [{"section": "subject", "key": n, "value": n} for n in names], "series": [], "metrics": [{"tag": "latency/median", "value": 5, "unit": "ns"}], "ops": [], "tables": [
        {"name": "functions", "title": names[1], "columns": [{"key": "name", "title": names[2]}], "rows": [[n] for n in names]}],
    "trees": [{"name": "samples", "title": names[3], "columns": [{"key": "self", "title": names[0], "unit": "ns"}, {"key": "samples", "title": names[1], "unit": "1"}], "frames": frames, "nodes": nodes}],
    "notes": [{"severity": "warning", "code": "x", "text": n} for n in names]}
json.dump(record, open("calls.json", "w"))
events = [{"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": names[0]}}]
events += [{"ph": "X", "name": n, "cat": n, "pid": 1, "tid": 1, "ts": 10 * i, "dur": 5, "args": {n: n}} for i, n in enumerate(names)]
events += [{"ph": "C", "name": n, "pid": 1, "ts": i, "args": {"v": i}} for i, n in enumerate(names)]
json.dump({"traceEvents": events}, open("ranges.json", "w"))
END
cat > look.py <<'END'
import gzip, re, sys
data = sys.stdin.buffer.read()
if data[:2] == b"\x1f\x8b":
    data = gzip.decompress(data)
# In binary formats whole sequences are searched, since length bytes can have any value.
steers = re.compile(rb"\x1b\[|1\xc2[\x80-\x9f]|l\x7f|n\xe2\x80[\xaa-\xae\x8e\x8f]|e\xe2\x81[\xa6-\xa9]|e\r|d\x07")
print(sys.argv[1], len(data) > 50, steers.findall(data))
END
formats=$(deepclock report --help | tr -s '\n ' ' ' | sed 's/.*call paths of a record: \([^(]*\) (default.*/\1/; s/,//g; s/ or / /')
[ "$(echo $formats | wc -w)" -ge 13 ] || echo "formats: $formats"
for form in $formats; do
	for file in calls ranges; do
		deepclock report $file.json --format $form > out 2> err || { [ "$file $form" != "calls $form" ] || grep -q "trace" err || cat err; }
		[ ! -s out ] || python3 look.py "$file $form" < out
	done
done
# JSON may contain them escaped.
for file in calls ranges; do
	deepclock report $file.json --format speedscope |
		python3 -c 'import json, sys; print(sys.argv[1], [f["name"] for f in json.load(sys.stdin)["shared"]["frames"] if any(ord(c) < 32 for c in f["name"])])' $file
done
