#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tries what needs a GPU on a machine that has one, in under 5 minutes, and writes one report in Markdown.
#
#   tools/gpu_check.sh [BUILD [REPORT]]     default: build, gpu_check.md
#
# Each step is one command with a limit. A step whose requirement is missing is named with what is missing, and the
# rest continues. Exit status: 0, all steps ran and passed; 1, a step failed; 2, nothing was built; 3, none failed,
# and some could not run. GPU_CHECK_DRIVERS: drivers to try, "cuda opencl".
set -u
build=${1-build}
report=${2-gpu_check.md}
here=$(cd "$(dirname "$0")/.." && pwd)
program=$build/deepclock
tests=$build/tests/unit_device
limit=285 # seconds for everything
passed=0 failed=0 missing=0

for needed in "$program" "$tests"; do
	[ -x "$needed" ] || { echo "gpu_check: there is no $needed: run 'make' first" >&2; exit 2; }
done
program=$(realpath "$program")
tests=$(realpath "$tests")
build=$(realpath "$build")
report=$(realpath -m "$report")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
: >steps
: >answers

row() { # STEP RESULT SECONDS
	printf '| %s | %s | %s |\n' "$1" "$2" "$3" >>steps
	printf '%-34s %s\n' "$1" "$2"
}
missing() { # STEP WHAT
	row "$1" "missing: $2" ""
	missing=$((missing + 1))
}
# Runs a command: step NAME SECONDS LINES COMMAND...; the report has its last LINES lines, or, if it fails, 40.
step() {
	local name=$1 seconds=$2 lines=$3 began=$SECONDS status left=$((limit - SECONDS))
	shift 3
	[ "$left" -gt 0 ] || { missing "$name" "time: the limit of $limit s is reached"; return 1; }
	[ "$seconds" -lt "$left" ] || seconds=$left
	timeout -k 5 "$seconds" "$@" >output 2>&1 </dev/null
	status=$?
	why=$(sed -nE 's/^skipped: (.{1,200}).*/\1/p; s/^ok .* # SKIP //p' output | head -n 1)
	if [ $status = 0 ] && [ -n "$why" ]; then
		missing "$name" "$why"
		return 1
	elif [ $status = 0 ]; then
		passed=$((passed + 1))
		row "$name" "passed" "$((SECONDS - began))"
	else
		failed=$((failed + 1)) lines=40
		[ $((SECONDS - began)) -lt "$seconds" ] || status="$status, at its limit of $seconds s"
		row "$name" "failed: exit status $status" "$((SECONDS - began))"
	fi
	# No path of this machine belongs in the report.
	sed "s|$here|.|g; s|$work|.|g; s|$HOME|~|g" output | tail -n "$lines" >shown
	# shellcheck disable=SC2016 # the fence and the quotes are Markdown's
	printf '\n### %s\n\n`%s`\n\n```\n%s\n```\n' "$name" \
		"$(echo "${*##*/}" | tr '\n' ' ' | cut -c1-160)" "$(cat shown)" >>answers
	[ "$status" = 0 ]
}

# Which library of a driver exports what src/device calls: symbols HEADER COLUMN LIBRARY
cat >symbols.py <<'PY'
import ctypes, re, sys
header, column, library = sys.argv[1], int(sys.argv[2]), sys.argv[3]
text = re.sub(r"\\\n", " ", open(header, encoding="utf-8").read())
names = [m.split(",")[column].strip() for m in re.findall(r"X\((\w+, [^()]*)\(", text)]
have = ctypes.CDLL(library)
lacks = [n for n in names if not hasattr(have, n)]
print(f"{library}: {len(names) - len(lacks)} of {len(names)} functions" + (", without " + ", ".join(lacks) if lacks else ""))
# Of the two names of the reasons of a clock, one suffices.
sys.exit(not names or bool([n for n in lacks if "ClocksEventReasons" not in n and "ClocksThrottleReasons" not in n]))
PY
# Facts and metrics of a record, one a line: facts FILE SECTION|PREFIX...
cat >facts.py <<'PY'
import json, sys
r = json.load(open(sys.argv[1], encoding="utf-8"))
for f in r["facts"]:
    if f["section"] in sys.argv[2:]:
        value = f.get("value", "absent: " + str(f.get("absent")))
        # No path of this machine belongs in the report.
        print(f'{f["section"]}/{f["key"]}:', value.rpartition("/")[2] if str(value).startswith("/") else value)
for m in r["metrics"]:
    if m["tag"].startswith(tuple(sys.argv[2:])):
        print(m["tag"] + ":", m.get("value", "absent: " + str(m.get("absent"))), m.get("unit", ""), [m["lo"], m["hi"]] if "lo" in m else "")
for n in r["notes"]:
    print("note " + n["code"] + ":", n["text"])
PY
# Zones with device time in a trace as CSV: each range of the queue begins after its zone began to enqueue it, and
# ends before the step that waits for it does, within the bound of its clock.
cat >zones.py <<'PY'
import csv, statistics, sys
read = list(csv.DictReader(open(sys.argv[1], encoding="utf-8")))
rows = [r for r in read if r["kind"] == "range"]
error = max(float(r["value"]) for r in read if r["name"] == "clock_error_ns")
def of(name, device):
    return [(int(r["begin_ns"]), int(r["begin_ns"]) + int(r["duration_ns"])) for r in rows
            if r["name"] == name and (" queue " in r["thread"]) == device]
waits = of("step", False)[4::5]
for name in "copy", "forward", "backward":
    host, device = of(name, False), of(name, True)
    assert host and len(host) == len(device), f"{name}: {len(host)} zones, {len(device)} ranges of the device"
    for (began, _), (begin, end) in zip(host, device):
        assert began <= begin <= end <= min(w for _, w in waits if w > began) + error, f"{name}: enqueued at {began}, {begin} to {end}"
    print(f"{name}: {len(device)} ranges; median {statistics.median(e - b for b, e in device) / 1e3:.1f} us on the device,",
          f"{statistics.median(e - b for b, e in host) / 1e3:.1f} us to enqueue; first begins {(device[0][0] - host[0][0]) / 1e3:.1f} us later")
print(f"clock_error_ns: at most {error:.0f}")
PY
cat >zones.sh <<'SH'
set -e
"$1" trace --quiet --no-waits --format csv --out zones.csv -- "$2" "$3" > answer
head -n 1 answer
python3 zones.py zones.csv
SH
has_library() { # prints why there is none
	python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$1" 2>&1 | tail -n 1 | cut -c1-120
}

echo "gpu_check: $(uname -m), $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)"
step "program" 20 4 "$program" version
if command -v nvidia-smi >/dev/null; then
	step "driver of NVIDIA" 30 8 nvidia-smi \
		--query-gpu=index,name,driver_version,pci.bus_id,power.limit,clocks.max.sm,compute_mode --format=csv
else
	missing "driver of NVIDIA" "nvidia-smi"
fi
if command -v rocm-smi >/dev/null; then
	step "driver of AMD" 30 20 rocm-smi --showproductname --showdriverversion
else
	missing "driver of AMD" "rocm-smi"
fi

step "declarations against headers" 60 8 python3 "$here/tests/doubles/headers.py" --headers "$build/gpu_headers"
while read -r name header column libraries; do
	for library in $libraries; do # the first that there is
		why=$(has_library "$library")
		[ -n "$why" ] || break
	done
	if [ -z "$why" ]; then
		step "functions of $name" 20 3 python3 symbols.py "$here/src/device/$header" "$column" "$library"
	else
		missing "functions of $name" "$why"
	fi
done <<'LIBRARIES'
CUDA cuda_api.h 1 libcuda.so.1
NVML nvml_api.h 1 libnvidia-ml.so.1
HIP cuda_api.h 2 libamdhip64.so.7 libamdhip64.so.6 libamdhip64.so.5 libamdhip64.so
LIBRARIES

gpu=
for driver in ${GPU_CHECK_DRIVERS-cuda opencl}; do
	step "suite of devices on $driver" 60 40 env DEVICE_SUITE="$driver" "$tests" device_suite || continue
	[ "$driver" = cuda ] && gpu=cuda
	step "machine --device $driver" 60 40 "$program" machine --device "$driver"
	step "zones with device time on $driver" 30 10 sh zones.sh "$program" "$build/examples/device_zones" "$driver"
done

if [ -n "$gpu" ]; then
	step "kernels under trace --cuda" 100 60 python3 "$here/tools/gpu_trace_check.py" "$program" native "$build/cuda_work"
	step "PyTorch under trace --cuda" 60 40 python3 "$here/tools/gpu_trace_check.py" "$program" torch
else
	missing "kernels under trace --cuda" "a device of CUDA"
fi

[ -n "${DEEPCLOCK_ORT_PROVIDER-}" ] || [ ! -d "$build/webgpu/onnxruntime_ep_webgpu" ] ||
	export DEEPCLOCK_ORT_PROVIDER="$build/webgpu/onnxruntime_ep_webgpu"
"$program" engines --format json >engines.json 2>/dev/null
for provider in cuda webgpu; do
	if ! grep -q "\"provider/$provider\", \"ok" engines.json; then
		missing "models on $provider" "ONNX Runtime's provider $provider: deepclock engines"
		continue
	fi
	for net in simplenet mobilenet_v2 bert_mini; do
		step "bench $net on $provider" 40 30 "$program" bench "zoo:$net" --device "$provider" --min-time 2s --max-time 5s \
			--max-warmup 10s --save "bench-$provider-$net.json" &&
			step "barrier and gauges of $net on $provider" 10 60 python3 facts.py "bench-$provider-$net.json" device engine \
				device/ transfer/ latency/median time/first_run throughput/
		if grep -q "a driver in software" "bench-$provider-$net.json" 2>/dev/null; then
			missing "larger models on $provider" "a GPU: its adapter is a driver in software"
			break
		fi
	done
	step "pitfalls on $provider" 60 40 "$program" pitfalls zoo:simplenet --time 1s --device "$provider"
	step "accuracy of $provider" 60 20 "$program" accuracy zoo:simplenet --vary "device=cpu,$provider"
done
if [ -z "$gpu" ]; then
	missing "gauges during a load" "a device of CUDA"
elif ! [ -e bench-cuda-simplenet.json ]; then
	# Without a provider: the gauges alone, of an idle device.
	step "gauges of an idle device" 20 30 "$program" bench zoo:simplenet --engine null --engine-option ns=1000000 --device cuda \
		--min-time 2s --max-time 2s --save idle.json &&
		step "readings" 10 30 python3 facts.py idle.json device device/
fi

{
	echo "# GPU check"
	echo
	echo "$("$program" version | head -n 1), $(uname -m), $(date -u +%Y-%m-%d): $passed passed, $failed failed, $missing missing, $SECONDS s."
	printf '\n| step | result | s |\n|---|---|--:|\n'
	cat steps answers
} >"$report" || exit 1
echo "gpu_check: $passed passed, $failed failed, $missing missing: $report"
[ "$failed" = 0 ] || exit 1
[ "$missing" = 0 ] || exit 3
