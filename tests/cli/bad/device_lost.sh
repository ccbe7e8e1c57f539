# A device that is lost in the middle: one sentence, what was measured is kept, the exit status is 1. The device is a double.
command -v "${CC:-cc}" > /dev/null || { echo "no C compiler"; exit 77; }
"${CC:-cc}" -shared -fPIC -I "$TESTS/../../include" -o device.so "$TESTS/../plugins/device.c" || exit 1
lost() {
	echo "== $1"
	deepclock "$@" --quiet --engine ./device.so --engine-option ns=100000 --save run.json zoo:simplenet > text 2> errors
	echo $?
	grep -c 'the device is lost' errors
	wc -l < errors
	record run.json 'r["incomplete"]'
}
lost bench --warmup 5 --runs 300 --engine-option lost_at=150
record run.json 'len(s("latency")["values"]) > 100' 'm("latency/median")["value"] > 0'
lost load --warmup 5 --requests 300 --streams 2 --engine-option lost_at=150
record run.json '100 < m("runs/count")["value"] < 150' 'm("latency/median")["value"] > 0'
lost load --warmup 5 --requests 300 --rate 1000 --engine-option lost_at=150
record run.json '100 < m("runs/count")["value"] < 150' 'm("latency/median")["value"] > 0'
# More runs than the warm-ups of both have time for, and fewer than the rounds have.
lost compare --vary batch=1,2 --keep-sessions --trials 1 --trial 1ms --rounds 10000 --engine-option lost_at=8000
record run.json 'm("compare/ratio")["value"] > 0' 'type(f("compare", "verdict")).__name__'
# In the profiled runs: the latency is kept.
lost profile --warmup 5 --runs 20 --profile-runs 200 --no-roofs --no-memory --engine-option lost_at=80
record run.json 'm("latency/median")["value"] > 0' 'note("profile-failed")["text"]'
# For good, by the last batch of a search.
LOST_FILE=$PWD/lost lost throughput --batch 1,2,64 --rounds 2 --point-time 20ms --engine-option lost_batch=64
record run.json '[row[0] for row in t("throughput/points")["rows"]]' \
	'any(type(row[1]) is float or "value" in row[1] for row in t("throughput/points")["rows"])' '"the device is lost" in note("point-failed")["text"]'
# A batch that loses the device of its own process ends that point and not the search.
deepclock throughput --quiet --engine ./device.so --engine-option ns=100000 --engine-option lost_batch=64 --batch 8,32,64 \
	--rounds 2 --point-time 20ms --save run.json zoo:simplenet > text
echo $?
tr -s ' \n' ' ' < text | grep -o 'batch 64 failed' | uniq
record run.json 'r["incomplete"]' 'm("throughput/best_batch")["value"] in (8, 32)' 'note("point-failed")["text"]'
