# A program that waits from before the attach until its end: the wait is seen.
sleep 60 &
pid=$!
until grep -q '(sleep) S' "/proc/$pid/stat"; do sleep 0.01; done # it has started, and waits
if ! deepclock sample --quiet --wall --pid $pid --time 300ms --save run.json >/dev/null 2>why.txt; then
	kill $pid
	grep -q perf_event why.txt && { echo "the kernel permits no perf_event"; exit 77; }
	cat why.txt
	exit 1
fi
record run.json 'f("sample", "waits_seen") > 0' 'f("sample", "waited") > 0' 'note("sample-few")' \
	'any(row[0] == "[blocked]" for row in t("functions")["rows"])'
kill $pid
{ wait $pid; } 2>/dev/null
true
