# Samples and zones of one run on one timeline: heavy() runs inside the zone "work", light() before it, on a second thread.
zone-program spins || exit
built=$(dirname "$(readlink -f "$(command -v deepclock)")")
[ -e "$built/libdeepclock_sampler.so" ] || { echo "libdeepclock_sampler.so was not built"; exit 77; }
self='dict((row[0], row[3]) for row in t("functions")["rows"])'

places() { # file: whether all samples of either function except one are in the range where it ran
	deepclock report "$1" --format rows -o zones.csv
	trace-samples "$1" zones.csv work | while read -r name _ before _ inside _ after; do
		[ "$name" = heavy ] && here=$inside || here=$before
		all=$((before + inside + after))
		[ $((all - here)) -le 1 ] && [ $all -gt 5 ] &&
			echo "$name: where it ran" || echo "$name: $before before, $inside inside, $after after"
	done | sort
}

deepclock trace --sample --save run.json -- ./program | tr -s ' \n' ' ' | grep -c 'sampled at [0-9]* Hz: heavy takes'
record run.json '[c["key"] for c in t("functions")["columns"]]' "($self)['heavy'] > 2 * ($self)['light'] > 0" \
	'[row[:2] for row in t("zones")["rows"] if row[0] == "work"]' '[x["name"] for x in r["trees"]]' \
	'f("sample", "in_file") == f("sample", "samples")' 'f("sample", "rate_asked")' \
	'[x["key"] for x in r["facts"] if x["section"] == "sample" and "value" not in x]'
places trace.pftrace
# By timers, since the kernel refuses perf_event; compressed; only the sampler library.
LD_PRELOAD=$built/tests/sampled/perf_refused.so deepclock trace --sample --sample-rate 100 --no-waits -o slow.pftrace.gz --save slow.json -- ./program |
	tr -s ' \n' ' ' | grep -c 'sampled at [0-9]* Hz: heavy takes'
record slow.json 'f("sample", "rate_asked")' 'f("sample", "rate") < 150' 'f("sample", "source")' 'note("sample-timers") is not None'
places slow.pftrace.gz
# Two processes whose traces are merged.
deepclock trace --sample -o two.pftrace --save two.json -- sh -c './program & ./program; wait' >/dev/null
record two.json 'f("trace", "processes") >= 2' 'f("sample", "in_file") == f("sample", "samples")'
places two.pftrace
# A format without samples, and contradictory options.
deepclock trace --sample -o t.json --save json.json -- ./program >/dev/null
record json.json 'next(x["absent"] for x in r["facts"] if x["key"] == "in_file")' '"functions" in [x["name"] for x in r["tables"]]'
deepclock trace --sample-rate 100 -- true || echo "status $?"
deepclock trace --sample --max-size 1MiB -- true || echo "status $?"
