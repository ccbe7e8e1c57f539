# A thread that sleeps eight times 150 ms, four times in a function with a frame pointer, next to a busy thread: the place and the duration of the sleep are reported.
sampled-program || exit
by=$(sampled-by) || { echo "$by"; exit 77; }
look() {
	record run.json '0.2e9 <= min(sum(row[2] for row in t("functions")["rows"] if row[0] == name) for name in ("nap", "nap_framed"))' \
		'note("sample-broken") is None or f("sample", "waits") != "context switches"' \
		'f("sample", "waited") <= f("sample", "time")'
	sampled-shares run.json | grep "heavy: "
}
for one in $by; do
	deepclock sample --quiet --wall --source $one --save run.json -- ./program wait 300 >/dev/null || echo $?
	look
done | sort -u
# As an unprivileged user, who receives no context-switch events.
unprivileged deepclock sample --quiet --wall --save run.json -- ./program wait 300 >/dev/null || echo $?
look
# A thread that shares its processor with another program waits for it.
python3 - <<'END' &
import os, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
end = time.monotonic() + 60
while time.monotonic() < end and os.getppid() != 1: pass
END
neighbour=$!
for one in $by; do
	deepclock sample --quiet --wall --source $one --save run.json -- python3 -c 'import os, sys
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.execv(sys.argv[1], sys.argv[1:])' ./program shares 300 >/dev/null || echo $?
	record run.json 'sum(row[2] for row in t("functions")["rows"] if row[0] == "[waits for a CPU]") > 0'
done | sort -u
kill $neighbour
