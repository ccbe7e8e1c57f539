# If the kernel refuses perf_event, timers take the samples; if these fail too, the message gives the fix.
sampled-program || exit
refused=$(dirname "$(readlink -f program)")/perf_refused.so
[ -e "$refused" ] || { echo "$refused was not built"; exit 77; }
deepclock sample --quiet --source timer -- ./program shares 1 >/dev/null 2>&1 || { echo "no timers here"; exit 77; }
LD_PRELOAD=$refused deepclock sample --quiet --save run.json -- ./program shares >/dev/null
echo $?
sampled-shares run.json
record run.json 'f("sample", "source")' 'note("sample-timers") is not None'
# Timers take the samples of a Python program too in this case.
LD_PRELOAD=$refused deepclock sample --quiet --save run.json -- python3 -c 'sum(i * i for i in range(3000000))' >/dev/null
record run.json 'f("sample", "source")' 'note("sample-timers") is not None' 'f("sample", "python_late")'
{
	LD_PRELOAD=$refused deepclock sample --source in-process -- ./program shares
	echo $?
	LD_PRELOAD=$refused deepclock sample --source perf -- ./program shares
	echo $?
	LD_PRELOAD=$refused deepclock sample --pid $$
	echo $?
} 2>&1 | sed 's/perf_event (.*): Op/perf_event (WHY): Op/'
