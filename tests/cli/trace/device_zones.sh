# Zones with the time of a device: a table and a track of their own, an arrow to each range, in every format that is read again.
. opencl || exit 77
built=$(dirname "$(readlink -f "$(command -v deepclock)")")
[ -x "$built/examples/device_zones" ] || { echo "device_zones was not built"; exit 77; }
ln -s "$built/examples/device_zones" program
./program opencl 3 | sed 's/known to.*/known/'
deepclock trace --no-waits --out t.pftrace --save live.json -- ./program opencl 20 > out
sed -n 's/known to.*/known/p' out
deepclock report t.pftrace --save read.json > text
tr -s '\n ' ' ' < text | grep -o 'on devices [a-z]* takes longest'
deepclock report t.pftrace --format chrome --out t.json
deepclock report t.json --save again.json > out
record live.json '[[r[0], r[1]] for r in sorted(t("device_zones")["rows"])]' '[[r[0], r[1]] for r in sorted(t("zones")["rows"])]' \
	't("device_zones") == [x for x in load("read.json")["tables"] if x["name"] == "device_zones"][0]' \
	't("device_zones") == [x for x in load("again.json")["tables"] if x["name"] == "device_zones"][0]' \
	'f("trace", "dropped_events")' 'f("trace", "unmatched_ends")' '[x for x in t("threads")["rows"] if "queue" in x[0]]'
python3 - <<'END'
import json
events = json.load(open("t.json"))["traceEvents"]
device = next(e for e in events if e["ph"] == "M" and e["args"].get("device"))
print(device["args"]["name"])
starts = {e["id"]: e for e in events if e["ph"] == "s"}
ends = {e["id"]: e for e in events if e["ph"] == "f"}
print(len(starts), len(ends), starts.keys() == ends.keys(), all(e["tid"] == device["tid"] for e in ends.values()))
# No range begins before it was enqueued.
print(all(ends[i]["ts"] >= starts[i]["ts"] for i in starts))
END
deepclock view t.pftrace --no-browser --html t.html > out && [ -s t.html ] && echo page
# What is enqueued while a range is open is recorded, though it runs later.
deepclock trace --no-waits --capture-range step --capture-times 3 --out w.pftrace --save window.json -- ./program opencl 20 > out
record window.json '[[r[0], r[1]] for r in sorted(t("device_zones")["rows"])]' 't("zones")["rows"][0][1]' 'f("trace", "captures")' 'f("trace", "unfinished_ranges")'
# The arrows of two processes are not joined, though each counts its own.
deepclock report t.pftrace w.pftrace --format chrome --out merged.json > out
python3 - <<'END'
import collections, json
events = json.load(open("merged.json"))["traceEvents"]
arrows = collections.Counter((e["ph"], e["id"]) for e in events if e["ph"] in "sf")
print(len(arrows), set(arrows.values()))
END
# On a double of CUDA, whose clock is not the host's.
[ -e "$built/tests/doubles/libcuda.so.1" ] || { echo "the doubles were not built"; exit 77; }
LD_LIBRARY_PATH=$built/tests/doubles deepclock trace --no-waits --out c.pftrace --save cuda.json -- ./program cuda 10 | sed -n 's/known to.*/known/p'
record cuda.json '[[r[0], r[1]] for r in sorted(t("device_zones")["rows"])]' 'f("trace", "dropped_events")'
./program metal
OCL_ICD_VENDORS=/nowhere ./program opencl 2>&1; echo $?
