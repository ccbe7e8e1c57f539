# Code that a JIT compiler wrote: without a map of its names the answer says how to have one.
sampled-program || exit
sampled-by >/dev/null || { echo "no samples can be taken here"; exit 77; }
deepclock sample --quiet --save run.json -- ./program generated >text
grep -o '\[unknown\] takes' text
grep -o '^warning: .* in JIT-compiled code' text | sed 's/[0-9][0-9]*/N/'
record run.json '["perf-PID.map" in n["text"] for n in r["notes"] if n["code"] == "sample-generated"]' \
	'[n for n in r["notes"] if n["code"] == "sample-no-names"]' 'f("sample", "unknown_code") > 0'
deepclock sample --quiet --save run.json -- ./program named >text
rm -f "$(head -1 text)"
grep -o 'counts_down takes' text
record run.json '[n for n in r["notes"] if n["code"] == "sample-generated"]'
