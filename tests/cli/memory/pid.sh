# The resident memory of running programs: a shell and its two children; for a time, or until they end.
heap-program || exit
sh -c './program wait & ./program wait; exit' >/dev/null &
shell=$!
for _ in $(seq 200); do
	children=$(cat "/proc/$shell/task/$shell/children" 2>/dev/null)
	[ "$(echo "$children" | wc -w)" = 2 ] && grep -q VmRSS /proc/$shell/status && break
	sleep 0.05
done
sleep 0.3
deepclock memory --pid "$shell" --time 400ms --quiet --save run.json >out || cat out
sum=0
for p in $shell $children; do
	sum=$((sum + $(awk '/^VmRSS/ { print $2 * 1024 }' "/proc/$p/status")))
done
record run.json 'm("memory/heap_peak")["absent"]' '[n["code"] for n in r["notes"]]' 'f("memory", "polls") > 0' \
	"abs(s(\"memory/rss\")[\"values\"][-1] / $sum - 1) < 0.1" 'r["incomplete"]' | sed "s/$sum/SUM/"
deepclock memory --pid "$shell" --quiet --format json >ended.json &
for _ in $(seq 200); do
	ls -l "/proc/$!/fd" 2>/dev/null | grep -q pidfd && break # the observer of the shell's end
	sleep 0.05
done
sleep 0.3
kill "$shell" $children
wait $! && echo "it ended with the program"
record ended.json 'm("memory/peak_rss")["value"] > 2**19' 'r["incomplete"]'
echo "--- mistakes"
deepclock memory --pid 4194303 2>&1
deepclock memory --time 1s -- ./program leak 2>&1
deepclock memory --pid $$ -- ./program leak 2>&1
