# One trace of all ranks at rank 0: each process is named by its rank, and has its ranges, on rank 0's clock.
ranks-program || exit
ranks-job 3 deepclock ranks --quiet --no-history --save run.json --trace all.pftrace -- ./program shared 12 1 1
cat exit.0 exit.1 exit.2 err.0 err.1 err.2 out.1 out.2
record run.json 'f("trace", "file")' 'f("trace", "files")' 'f("trace", "processes")' '0 < f("trace", "uncertainty") < 1e9' 'r["incomplete"]'
deepclock report all.pftrace --quiet --save all.json > out
record all.json '[row[:2] for row in t("zones")["rows"] if row[0].startswith("collective:")]'
deepclock report all.pftrace --format chrome > all.trace.json
cat > ranges.py <<'END'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
names = {e["pid"]: e["args"]["name"] for e in events if e.get("name") == "process_name"}
print(sorted(names.values()))
stacks, spans = {}, {name: [] for name in sorted(names.values())}
for e in events:
    stack = stacks.setdefault((e["pid"], e["tid"]), [])
    if e["ph"] == "B":
        stack.append(e)
    elif e["ph"] == "E" and stack.pop()["name"] == "collective:sum":
        spans[names[e["pid"]]].append((begin, e["ts"]))
    begin = e.get("ts")
print({name: len(x) for name, x in spans.items()})
# No rank leaves a barrier before the last one has come to it. 1 us: the times have this unit.
print(all(max(b for b, _ in k) <= min(e for _, e in k) + 1 + 1e-3 * float(sys.argv[2]) for k in zip(*spans.values())))
END
python3 ranges.py all.trace.json "$(record run.json 'f("trace", "uncertainty")' | sed 's/.*: //')"
# The directory of the traces is made.
ranks-job 2 deepclock ranks --quiet --no-history --traces new/traces -- ./program shared 4 > out
ls new/traces
# Nothing is run where the file cannot be written.
unset RANK WORLD_SIZE
deepclock ranks --trace no-such-directory/all.pftrace -- echo ran
echo $?
# Another format by the name's ending.
deepclock ranks --quiet --no-history --trace one.json -- ./program shared 4 > out
python3 ranges.py one.json 0
