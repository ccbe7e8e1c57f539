try() {
	deepclock trace "$@"
	echo $?
}
try
try -- no-such-program
try -o no/such/folder.pftrace -- true
try -o out.callgrind.gz -- true
try --last 1MiB --max-size 1MiB -- true
try --max-size 1 -- true
try --dump-on SIGUSR2 -- true
try --last 1MiB --dump-on SIGKILL -- true
try --limit step=1ms -- true
try --last 1MiB --limit step -- true
try --last 1MiB --limit =1ms -- true
try --capture-times 3 -- true
try --capture-range '' -- true
try --capture-range @mine -- true
try --percentiles p20 -- true
try -f openmetrics -- true
try -o - -- true
deepclock report --percentiles p50 -o out.json.gz out.pftrace
