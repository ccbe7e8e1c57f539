# Figures of a record as files: well-formed, with a mark for each value of the record.
# PNG, which needs librsvg, is looked at below.
deepclock() {
	command deepclock "$@" 2> errors
	set -- $?
	grep -v '^deepclock: no PNG, only SVG: ' errors >&2
	return "$1"
}
deepclock bench zoo:simplenet --engine null --runs 200 --warmup 3 --quiet --no-history --save run.json --figures pictures > /dev/null
ls pictures | grep svg
cat > check.py <<'END'
import json, re, sys, xml.etree.ElementTree as xml
def marks(path, tag):
    return [e for e in xml.parse(path).getroot().iter("{http://www.w3.org/2000/svg}" + tag)]
what, path = sys.argv[1:]
r = json.load(open(path))
if what == "runs":
    print("dots:", len(marks("pictures/runs.svg", "circle")) == len(r["series"][0]["values"]))
    note = " ".join(t.text for t in marks("pictures/histogram.svg", "text"))
    print("runs:", "%d samples" % len([v for v in r["series"][0]["values"][r["series"][0]["warmup"]:]]) in note, "median" in note)
else:
    t = next(t for t in r["tables"] if t["name"] == "throughput/points")
    print("points:", len(marks("pictures/throughput.svg", "circle")) == len(t["rows"]))
END
python3 check.py runs run.json
# PNG if librsvg is installed: 1440 by 800.
for f in pictures/*.png; do [ ! -e "$f" ] || od -An -tx1 -N24 "$f" | tr -d ' \n' | grep -v '^89504e470d0a1a0a0000000d49484452000005a000000320'; done
deepclock throughput zoo:simplenet --engine null --batch 1,2,4 --rounds 2 --point-time 20ms --quiet --no-history --save t.json > /dev/null
deepclock report t.json --figures pictures
python3 check.py throughput t.json
# Of several records each has its number.
deepclock report run.json run.json --figures both && ls both | grep svg
# What shows them together has none: medians by their names, and the rate by the items of a run.
python3 - <<'END'
import json
r = json.load(open("run.json"))
next(f for f in r["facts"] if f["key"] == "items_per_run")["value"] = 8
next(f for f in r["facts"] if (f["section"], f["key"]) == ("subject", "name"))["value"] = "eight"
rate = next(m for m in r["metrics"] if m["tag"] == "throughput/items")
rate.update((k, 8 * rate[k]) for k in ("value", "lo", "hi") if k in rate)
json.dump(r, open("eight.json", "w"))
END
deepclock report run.json eight.json --figures together && ls together | grep 'records.*svg'
grep -o '>zoo:simplenet<\|>eight<' together/records.svg
grep -o 'items of a run<\|<circle' together/records-rate.svg
deepclock report run.json eight.json --figures records.svg && cmp records.svg together/records.svg
# A roofline from operators that have a rate and a roof; names of any bytes are texts.
python3 - <<'END'
import json
r = json.load(open("run.json"))
op = dict(name="</title><script>", type="Conv", outputs=[], macs=1, params=1, weight_bytes=4)
r["ops"] = [dict(op, flops=10**9, read_bytes=10**7, write_bytes=10**7, time=2e7, rate=5e10, roof=3e11, bound="compute"),
            dict(op, flops=10**6, read_bytes=10**7, write_bytes=10**7, time=1e6, rate=1e9, roof=1e10, bound="memory"),
            dict(op, flops=0, read_bytes=10, write_bytes=10, time=1e6)]
json.dump(r, open("ops.json", "w"))
END
deepclock report ops.json --figures roofs
grep -c '<circle' roofs/roofline.svg
grep -o '[0-9]* of [0-9]* operators[^<]*\|317 GFLOP/s\|300 GFLOP/s\|200 GB/s' roofs/roofline.svg
grep -c '<script' roofs/roofline.svg
# Call paths: a box for each visible node, as wide as its share, below its caller or above it; names are escaped.
python3 - <<'END'
import json
r = json.load(open("run.json"))
names = ["main", "</title><script>", "leaf", "tiny"] + ["deep%d" % i for i in range(20)]
parents = [-1, 0, 0, 0, 2] + list(range(4, 23))
weights = {0: 1.0, 1: 600.0, 3: 1e-3, 23: 398.999}
r["trees"] = [dict(name="samples", title="Samples", columns=[dict(key="time", title="time", unit="ns")], frames=[dict(name=n) for n in names],
                   nodes=[[parent, i, weights.get(i, 0.0)] for i, parent in enumerate(parents)])]
json.dump(r, open("calls.json", "w"))
END
deepclock report calls.json --figures calls
python3 - <<'END'
import xml.etree.ElementTree as xml
S = "{http://www.w3.org/2000/svg}"
def boxes(name):
    return [(g.find(S + "title").text.split(":")[0], *(float(g.find(S + "rect").get(k)) for k in ("x", "y", "width"))) for g in xml.parse(name).getroot().iter(S + "g")]
down, up = boxes("calls/icicle.svg"), boxes("calls/flamegraph.svg")
print([(n, x, round(w, 1)) for n, x, y, w in down[:3]], len(down))
rows = {n: y for n, x, y, w in down}
print(rows["main"] < rows["leaf"] < rows["deep0"] < rows["deep15"], "deep16" in rows, "tiny" in rows)
print(all(a[1] == b[1] and a[3] == b[3] and a[2] + b[2] == down[0][2] + up[0][2] for a, b in zip(down, up)))
print([t.text for t in xml.parse("calls/icicle.svg").getroot().iter(S + "text") if "in all" in t.text])
END
grep -c '<script' calls/icicle.svg
# One figure as a file; an unknown figure, a figure without data in the record, and a chart that only the page has.
deepclock report run.json --figures histogram.svg && cmp histogram.svg pictures/histogram.svg && echo the same
deepclock report run.json --figures laps.svg
echo $?
deepclock report run.json --figures lag.png
echo $?
deepclock report run.json run.json --figures runs.svg
# A step of a trace: of median duration among those of its name; other rows clipped to it, short ranges merged.
python3 - <<'END'
import json
events = [{"ph": "X", "name": "epoch", "ts": 0, "dur": 9000, "pid": 1, "tid": 1}]
for i, took in enumerate((3000, 1000, 2000)):
    at = 3000 * i
    events.append({"ph": "X", "name": "Step#%d" % i, "ts": at, "dur": took, "pid": 1, "tid": 1})
    events.append({"ph": "X", "name": "</text><script>", "ts": at, "dur": took / 2, "pid": 1, "tid": 1})
    events += [{"ph": "X", "name": "tiny", "ts": at + took / 2 + 0.2 * k, "dur": 0.1, "pid": 1, "tid": 1} for k in range(50)]
    events.append({"ph": "X", "name": "loader", "ts": at - 500, "dur": took, "pid": 1, "tid": 2})
json.dump({"traceEvents": events}, open("trace.json", "w"))
END
deepclock report trace.json --figures trace && ls trace | grep timeline.svg
python3 - <<'END'
import xml.etree.ElementTree as xml
S = "{http://www.w3.org/2000/svg}"
root = xml.parse("trace/timeline.svg").getroot()
print(root[0].text, [t.text for t in root.iter(S + "text") if "median" in t.text or "thread" in t.text])
boxes = [(g.find(S + "title").text, *(float(g.find(S + "rect").get(k)) for k in ("x", "y", "width"))) for g in root.iter(S + "g")]
left, wide = boxes[0][1], boxes[0][3]
print(*((says, round((x - left) / wide, 3), round(w / wide, 3)) for says, x, y, w in boxes), sep="\n")
print(len({y for _, _, y, _ in boxes}))
END
deepclock report trace.json --figures timeline.svg && cmp timeline.svg trace/timeline.svg && echo the same
# Nothing to draw, and a directory that cannot be created.
python3 -c 'import json; r = json.load(open("run.json")); r["series"] = []; json.dump(r, open("empty.json", "w"))'
deepclock report empty.json --figures none
deepclock report run.json --figures run.json/x
echo $?
# Laps: time on the left axis, values recorded with some laps on the right axis; a lap without a value has no dot. They are
# in the order in which they ended, and of two threads one that ended later may have begun earlier.
python3 - <<'END'
import json
r = json.load(open("run.json"))
at = [0, 2000, 1000, 3000]
r["series"] = [{"tag": "laps/Experiment/wall", "unit": "ns", "warmup": 0, "at_ns": [0, 5000], "values": [4e9, 4e9]},
               {"tag": "laps/Epoch/wall", "unit": "ns", "warmup": 0, "at_ns": at, "values": [2e9, 1e9, 1e9, 1.5e9]},
               {"tag": "laps/Epoch/cpu", "unit": "ns", "warmup": 0, "at_ns": at, "values": [2e9, 1e9, 1e9, 1e9]},
               {"tag": "laps/Epoch/Test <Acc>", "unit": "1", "warmup": 0, "at_ns": at[1:], "values": [0.5, 0.75, 0.8]}]
json.dump(r, open("laps.json", "w"))
END
deepclock report laps.json --figures laps && ls laps | grep svg
python3 - <<'END'
import xml.etree.ElementTree as xml
root = xml.parse("laps/laps.svg").getroot()
svg = "{http://www.w3.org/2000/svg}"
dots = [(c.get("fill"), c[0].text, float(c.get("cx")), float(c.get("cy"))) for c in root.iter(svg + "circle")]
time, value = [d for d in dots if d[1] == "time"], [d for d in dots if d[1] == "Test <Acc>"]
print(root[0].text, len(time), len(value), len({d[0] for d in dots}))
# The same laps are aligned vertically; their distance from the axis is proportional to their value.
low = max(float(l.get("y1")) for l in root.iter(svg + "line") if l.get("y1") == l.get("y2"))
print([d[2] for d in time][1:] == [d[2] for d in value], *(round((low - d[3]) / (low - dots[0][3]), 3) for d in time),
      *(round((low - d[3]) / (low - value[-1][3]), 3) for d in value))
END
