# A device that reports how long operators took, and not when: the timeline has the runs, and a note states it.
command -v "${CC:-cc}" > /dev/null || { echo "no C compiler"; exit 77; }
"${CC:-cc}" -shared -fPIC -I "$TESTS/../../include" -o device.so "$TESTS/../plugins/device.c" || exit 1
deepclock bench --quiet --engine ./device.so --engine-option ns=1000000 --runs 5 --warmup 1 --trace run.json --save record.json \
	zoo:simplenet > /dev/null
echo $?
record record.json 'f("trace", "runs")' 'note("trace-no-operators")["text"]'
grep -c Gemm run.json || true
# One that reports when, too: ranges on the device's track, in their runs, and none on the host's.
deepclock bench --quiet --engine ./device.so --engine-option ns=1000000 --engine-option when=1 --device cuda --runs 5 --warmup 1 --trace run.json \
	--save record.json zoo:simplenet > /dev/null
echo $?
record record.json 'f("trace", "operators_on_device")' 'f("trace", "operators") == 2 * f("trace", "profiled_runs")' \
	'note("trace-no-operators") is None' 'sorted(row[0] for row in t("device_zones")["rows"])'
python3 - << 'END'
import json

events = json.load(open("run.json"))
events = events["traceEvents"] if isinstance(events, dict) else events
names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e.get("name") == "thread_name"}
ops = [e for e in events if "Gemm" in e.get("name", "") or "Relu" in e.get("name", "")]
print({names.get((e["pid"], e["tid"])) for e in ops}, sorted({e["name"] for e in ops}))
runs, ended = [], {}
for e in reversed(events):
    if e.get("ph") == "E":
        ended[e["tid"]] = e["ts"]
    elif e.get("name") == "profiled run":
        runs.insert(0, (e["ts"], ended[e["tid"]]))
begins = [e for e in ops if e["ph"] in "BX"]
# The device's clock is converted to that of its track; other programs may have come between the readings of both.
inside = [runs[int(e["args"]["run"])][0] - 50000 <= e["ts"] <= runs[int(e["args"]["run"])][1] + 50000 for e in begins]
print(len(begins) == 2 * len(runs), all(inside), [e["args"]["run"] for e in begins[:4]])
END
