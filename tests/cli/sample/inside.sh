# heavy
# Samples that threads take of themselves at signals of perf_event: the requested rate, in all threads and
# processes, without disturbing the program's signals, descriptors and child programs.
sampled-program || exit
deepclock sample --quiet --source in-process --save run.json -- ./program shares 1 >/dev/null 2>why.txt ||
	{ grep -qE 'perf_event|library' why.txt && { cat why.txt; exit 77; }; cat why.txt; exit 1; }
for what in shares threads children closed; do
	deepclock sample --quiet --source in-process --save run.json -- ./program $what 150 >/dev/null || echo "$what: $?"
	sampled-shares run.json | sed "s/^/$what: /" | grep -vE 'outermost|have it all'
	record run.json 'f("sample", "source")' 'note("sample-rate") is None' 'f("sample", "lost")'
done | sort -u
# At a high rate many signals are pending when a program starts.
deepclock sample --quiet --source in-process --rate 9000 --save run.json -- ./program urgent 200 | head -1
sampled-shares run.json | grep '^heavy: '
deepclock sample --quiet --source in-process --rate 9000 --save run.json -- ./program again 40 | head -1
# A thread without a perf event has a timer.
refused=$(dirname "$(readlink -f program)")/perf_refused.so
deepclock sample --quiet --source in-process --save run.json -- sh -c "LD_PRELOAD=\$LD_PRELOAD:$refused exec ./program shares" >/dev/null
sampled-shares run.json | grep '^heavy: '
record run.json 'f("sample", "threads_by_timers")'
