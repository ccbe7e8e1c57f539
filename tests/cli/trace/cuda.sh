# Kernels and copies of CUDA with the calls and zones that enqueued them, on doubles of its driver and of CUPTI.
zone-program cuda_kernels || exit
LD_LIBRARY_PATH=$(dirname "$(readlink -f "$(command -v deepclock)")")/tests/doubles
[ -e "$LD_LIBRARY_PATH/libcupti.so.13" ] || { echo "the doubles were not built"; exit 77; }
export LD_LIBRARY_PATH CUDA_DOUBLE_REAL_TIME=1
unset DEEPCLOCK_CUPTI CUDA_INJECTION64_PATH

# Their times are those of the double, within a thousandth; each in the zones around its call.
cat > times.py <<'PY'
import json, sys
record = json.load(open(sys.argv[1]))
tables = {t["name"]: t for t in record["tables"]}
def column(table, key):
    keys = [c["key"] for c in tables[table]["columns"]]
    return {row[0]: row[keys.index(key)] for row in tables[table]["rows"]}
def near(value, ns):
    return abs(value - ns) <= max(ns / 1000, 1000)
total, calls = column("device_zones", "total"), column("device_zones", "calls")
for name, n, ns in (("work<float>", 1, 3e6), ("work", 2, 2e6), ("copy host to device", 1, 12e3), ("copy device to host", 1, 12e3)):
    print(name, calls[name] == n or calls[name], near(total[name], ns) or total[name])
device = column("zones", "device")
for name, ns in (("step 1", 3012e3), ("step 2", 2012e3), ("forward", 2e6), ("cudaLaunchKernel", 5e6), ("cuMemcpyHtoDAsync_v2", 12e3)):
    print(name, near(device[name], ns) or device[name])
bytes_, rate = column("device_zones", "bytes"), column("device_zones", "rate")
print("bytes", bytes_["copy host to device"], 8e9 < rate["copy host to device"] < 9e9)
PY
deepclock trace --cuda -o trace.pftrace --quiet --save run.json -- ./program > text
python3 times.py run.json
record run.json 'f("method", "cuda")' 'f("trace", "cuda_calls")' 'f("trace", "cuda_ranges")' 'f("trace", "cuda_dropped")' \
	'f("trace", "cuda_without_call")' 'f("trace", "cuda_memory_peak")' '[n["code"] for n in r["notes"] if "cuda" in n["code"]]' \
	'[row[0] for row in t("threads")["rows"] if "deepclock" in row[0]]' \
	'[row[0] for row in t("zones")["rows"] if row[0] == "cuLaunchKernel"]'

# The file has the same, and an arrow from each call to its kernel, which begins no earlier.
deepclock report trace.pftrace --quiet --save again.json > /dev/null
python3 times.py again.json | sort | uniq -c | grep -c True
deepclock report trace.pftrace --quiet --format chrome -o trace.json
python3 - <<'PY'
import json
events = json.load(open("trace.json"))
events = events["traceEvents"] if isinstance(events, dict) else events
tracks = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
begins = {e["id"]: e for e in events if e["ph"] == "s"}
ends = [e for e in events if e["ph"] == "f"]
print("tracks", sorted(n for n in tracks.values() if n.startswith("cuda:")))
print("memory", [next(iter(e["args"].values())) for e in events if e["ph"] == "C" and "CUDA" in e["name"]])
print("arrows", len(ends), all(e["id"] in begins and begins[e["id"]]["ts"] <= e["ts"] + 1000 for e in ends))
PY

# CUPTI before 11.7, whose clock is another one and drifts.
DEEPCLOCK_CUPTI=$LD_LIBRARY_PATH/old-libcupti.so.13 CUPTI_DOUBLE_OFFSET_NS=123456789012345 CUPTI_DOUBLE_SKEW_PPM=100 \
	deepclock trace --cuda -o trace.pftrace --quiet --save old.json -- ./program > text
record old.json 'f("method", "cuda")'
python3 times.py old.json | grep -c True

# Records that have the number of the driver's call inside the runtime's.
CUDA_DOUBLE_INNER_CALLS=1 deepclock trace --cuda -o trace.pftrace --quiet --save inner.json -- ./program > text
python3 times.py inner.json | grep -c True

# What was flushed until _exit(), and a child of fork() that has no CUDA.
deepclock trace --cuda -o trace.pftrace --quiet --save exit.json -- ./program exit > text
python3 times.py exit.json | grep -c True
# What works stands before the waits, however long these are.
record exit.json '[row[0][:4] for row in t("zones")["rows"]][0] == "wait"' '"wait" in [row[0][:4] for row in t("zones")["rows"]]'
deepclock trace --cuda -o trace.pftrace --quiet --save fork.json -- ./program fork > text
python3 times.py fork.json | grep -c True
record fork.json 'f("trace", "cuda_ranges")' '[row[:2] for row in t("zones")["rows"] if row[0] == "child"]'

# Killed: the file has them, without the counts, which the program writes last.
deepclock trace --cuda -o trace.pftrace --quiet --save killed.json -- ./program killed > text
python3 times.py killed.json | grep -c True
record killed.json '[x.get("absent") for x in r["facts"] if x["key"] == "cuda"]' '[n["code"] for n in r["notes"] if "cuda" in n["code"]]'

# What no zone enqueued is in no zone's time.
deepclock trace --cuda -o trace.pftrace --quiet --save outside.json -- ./program outside > text
record outside.json '1.9e6 <= f("trace", "device_outside_zones") <= 2.1e6' 'note("device-outside-zones") is not None' \
	'f("method", "cuda")'
deepclock report trace.pftrace --quiet --save again.json > /dev/null
record again.json '1.9e6 <= f("trace", "device_outside_zones") <= 2.1e6'
record run.json 'f("trace", "device_outside_zones")' 'note("device-outside-zones")'

# Two processes with CUDA, of one without.
deepclock trace --cuda -o trace.pftrace --quiet --save two.json -- sh -c './program; ./program; sleep 0.01' > text
record two.json 'f("method", "cuda")' 'f("trace", "cuda_ranges")' 'sorted(row[:2] for row in t("device_zones")["rows"])' \
	'[row[1] for row in t("zones")["rows"] if row[0] == "cudaLaunchKernel"]'

# CUPTI of the packages of the program's Python, no newer than the driver.
mkdir -p venv/bin venv/lib/python3.99/site-packages/nvidia/cuda_cupti/lib driver
ln -s "$(command -v python3)" venv/bin/python3
ln -s "$LD_LIBRARY_PATH/old-libcupti.so.13" venv/lib/python3.99/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12
ln -s "$LD_LIBRARY_PATH/libcuda.so.1" driver/
LD_LIBRARY_PATH=driver PATH=$PWD/venv/bin:$PATH CUDA_DOUBLE_VERSION=12000 deepclock trace --cuda -o trace.pftrace --quiet \
	--save python.json -- ./program > text
record python.json 'f("method", "cuda")' 'f("trace", "cuda_ranges")'

# Only what was enqueued while the range was open.
deepclock trace --cuda -o trace.pftrace --capture-range 'step 2' --quiet --save capture.json -- ./program > text
record capture.json '[row[:2] for row in t("device_zones")["rows"]]'

# What is lost or impossible is said, and the program runs on.
CUPTI_DOUBLE_DROP=2 deepclock trace --cuda -o trace.pftrace --quiet --save drop.json -- ./program > text
CUPTI_DOUBLE_DROP=4 CUPTI_DOUBLE_FAIL=cuptiActivityGetNumDroppedRecords=7 deepclock trace --cuda -o trace.pftrace --quiet --save lost.json -- ./program > text
record lost.json '[(n["code"], n["text"]) for n in r["notes"] if "cuda" in n["code"]]'
record drop.json 'f("trace", "cuda_ranges")' 'f("trace", "cuda_dropped")' 'note("cuda-dropped")["text"]'
for setting in CUPTI_DOUBLE_FAIL=cuptiSubscribe=39 CUPTI_DOUBLE_FAIL=cuptiSubscribe=35 CUPTI_DOUBLE_FAIL=cuptiActivityEnable=1 \
	DEEPCLOCK_CUPTI=libnone.so.1 CUDA_INJECTION64_PATH=/opt/other.so CUDA_DOUBLE_FAIL=cuInit=100; do
	env "$setting" deepclock trace --cuda -o trace.pftrace --quiet --save fails.json -- ./program > text
	echo $?
	record fails.json 'note("cuda-not-recorded")["text"]' '[x.get("absent") for x in r["facts"] if x["key"] == "cuda"] != [None]' \
		'sorted(row[0] for row in t("zones")["rows"] if "step" in row[0])'
done
