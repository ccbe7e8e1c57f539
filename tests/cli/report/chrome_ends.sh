# Ranges of a file in JSON whose ends are missing, have no range, or cross others; a counter of many series, one as a text.
python3 - <<'END'
import json
def event(ph, ts, name=None, **more):
    return {"ph": ph, "ts": ts, "pid": 1, "tid": 1, **({"name": name} if name else {}), **more}
def write(name, *events):
    json.dump([{}, *events], open(name + ".json", "w"))
write("missing", event("B", 0, "outer"), event("B", 1, "inner"), event("E", 10, "outer"), event("X", 100, "last", dur=1))
write("crossed", event("B", 0, "a"), event("B", 1, "b"), event("E", 5, "a"), event("E", 9, "b"))
write("no_begin", event("X", 5, "x", dur=15), event("E", 10), event("X", 1000, "last", dur=1))
write("no_end", event("X", 0, "x", dur=10), event("B", 5, "b"), event("X", 1000000, "last", dur=1))
write("around", event("B", 0, "b"), event("X", 5, "x", dur=15), event("E", 10))
write("series", event("C", 0, "mem", args={f"s{i}": i for i in range(100)}), event("C", 1, "mem", args={"s0": "7.5"}))
END
for name in missing crossed no_begin no_end around; do
	echo "$name"
	deepclock report $name.json -f csv | grep 'zones/.*/\(total\|self\)"' | cut -d, -f3,4
done
deepclock report no_begin.json --quiet --save run.json > out
record run.json '[f["value"] for f in r["facts"] if f["key"] == "skipped_events"]'
deepclock report series.json -f rows | wc -l
deepclock report series.json -f rows | grep '"mem s0"'
