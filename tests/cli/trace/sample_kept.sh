# Samples of a trace are preserved by report: in the record, and in each format that can hold them.
zone-program spins || exit
built=$(dirname "$(readlink -f "$(command -v deepclock)")")
[ -e "$built/libdeepclock_sampler.so" ] || { echo "libdeepclock_sampler.so was not built"; exit 77; }
deepclock trace --sample -o one.pftrace --save one.json -- ./program >/dev/null
deepclock trace --sample -o two.pftrace.gz --save two.json -- ./program >/dev/null

cat >same.py <<'PY'
"""same.py WHOLE [PART]...: the table and the tree of the samples in WHOLE are those of the parts, whatever their order."""
import collections
import json
import sys

def sums(name):
    record = json.load(open(name, encoding="utf-8"))
    frames, paths, rows = None, collections.Counter(), collections.Counter()
    tree = next(t for t in record["trees"] if t["title"] == "Samples by call path")
    path_of = []
    for parent, frame, *weights in tree["nodes"]:
        of = (path_of[parent] if parent >= 0 else ()) + (json.dumps(tree["frames"][frame], sort_keys=True),)
        path_of.append(of)
        for k, w in enumerate(weights):
            paths[of, k] += w
    for t in record["tables"]:
        for row in t["rows"] if t["name"] == "functions" else []:
            for k in (1, 2, 3):
                rows[json.dumps([row[0], row[4], row[6]]), k] += row[k]
    return paths, rows

whole, parts = sums(sys.argv[1]), [sums(p) for p in sys.argv[2:]]
for what, mine, theirs in zip(("paths", "functions"), whole, zip(*parts)):
    total = sum(theirs, collections.Counter())
    print(what, "same" if +mine == +total else f"differ: {+mine - total} {total - mine}", "any" if any(mine.values()) else "none")
PY
read_back() { # a trace, and the records made from it
	deepclock report "$1" --save back.json >/dev/null && shift && python3 same.py back.json "$@"
}
count() { # a record
	record "$1" 'f("sample", "samples")' | sed 's/.*: //'
}

read_back one.pftrace one.json
deepclock report one.pftrace -o copy.pftrace && read_back copy.pftrace one.json
deepclock report copy.pftrace -o packed.pftrace.gz && read_back packed.pftrace.gz one.json
# The copy has them at the same times.
deepclock report copy.pftrace --format rows -o zones.csv
trace-samples copy.pftrace zones.csv work | while read -r name _ before _ inside _ after; do
	[ "$name" = heavy ] && here=$inside || here=$before
	all=$((before + inside + after))
	[ $((all - here)) -le 1 ] && [ $all -gt 5 ] && echo "$name: where it ran" || echo "$name: $before, $inside, $after"
done | sort
echo "rows: $(($(grep -c ',sample,.*;\(heavy\|light\)"\?,' zones.csv) > $(count one.json) / 2))"
# Two traces on one timeline; then into another format.
deepclock report one.pftrace two.pftrace.gz -o all.pftrace && read_back all.pftrace one.json two.json
deepclock report one.pftrace two.pftrace.gz --format folded -o all.folded 2>&1 | sed 's/[0-9]\+ stack/N stack/'
# Chrome's format: an event for each sample, whose stack is in the list of frames.
deepclock report one.pftrace -o one.chrome.json --format chrome
python3 - <<'PY'
import csv
import json
trace, one = json.load(open("one.chrome.json")), json.load(open("one.json"))
samples = [e for e in trace["traceEvents"] if e["ph"] == "P"]
def stack(at):
    while at:
        yield trace["stackFrames"][str(at)]["name"]
        at = trace["stackFrames"][str(at)].get("parent")
heavy = [e for e in samples if next(stack(e.get("sf")), "") == "heavy"]
facts = {(f["section"], f["key"]): f.get("value") for f in one["facts"]}
row = next(r for t in one["tables"] if t["name"] == "functions" for r in t["rows"] if r[0] == "heavy")
print("chrome:", len(samples) == facts["sample", "samples"], len(heavy) == row[1],
      sum(e["args"]["cpu_ns"] for e in heavy) == row[3])
rows = sorted(int(r["begin_ns"]) for r in csv.DictReader(open("zones.csv", newline="")) if r["kind"] == "sample")
print("times:", rows == sorted(round(1000 * e["ts"]) for e in samples))
PY
# Trees in addition to the tree of zones.
deepclock report one.pftrace -o one.speedscope.json && deepclock report one.speedscope.json --save scope.json >/dev/null
record scope.json 'sorted(x["title"] for x in r["trees"])' \
	'[sum(n[k] for n in r["trees"][-1]["nodes"]) == sum(n[k] for n in load("one.json")["trees"][1]["nodes"]) for k in (2, 3)]'
deepclock report one.pftrace -o one.pb.gz && gzip -dc one.pb.gz | tr '\000-\037' '\n' | grep -a -o 'samples/time\|^heavy\|thread' | sort -u
# A format for one tree: the other tree is left out, and the message gives the option for it.
deepclock report one.pftrace -o one.folded 2>&1 | sed 's/[0-9]\+ stack/N stack/'
sed 's/ [0-9]*$//; s/ [0-9]*;/;/' one.folded
deepclock report one.pftrace --tree samples --format folded | grep -c ';heavy [1-9]'
