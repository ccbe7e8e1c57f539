# Any percentile for which a limit exists is a statistic: it has a metric, --precision applies to it, and
# it is shown first; also in fresh processes.
try() {
	deepclock bench -q -r 200 -w 5 -s run.json --no-history --engine null --engine-option ns=20000 "$@" zoo:simplenet > text
	record run.json 'f("plan", "statistic")' 'm("latency/" + f("plan", "statistic")) is not None' | tr '\n' ' '
	name=$(record run.json 'f("plan", "statistic")' | sed 's/.*: //')
	grep -q "^ *$name  *" text && echo shown
}
try --statistic p75
try --statistic p50
try --statistic p97.5
try --statistic mean
try --statistic max
# Too few runs for this percentile: absent with the reason, like p99.
deepclock bench -q -r 200 -w 5 -s run.json --no-history --engine null zoo:simplenet --statistic p99.99 > text
record run.json '"value" in m("latency/p99.99")' '"99.99 % needs" in m("latency/p99.99")["absent"]' 'note("too-few-runs") is not None'
# The precision applies to the percentile.
deepclock bench -q --min-runs 50 --min-time 1ms --max-time 20s --precision 50% -w 5 -s run.json --no-history --engine null \
	--engine-option ns=20000 zoo:simplenet --statistic p80 > text
record run.json '"of the p80 is" in f("method", "stop")'
deepclock bench -q -r 100 -w 5 -s run.json --no-history --engine null --processes 2 zoo:simplenet --statistic p75 > text
record run.json 'f("plan", "statistic")' 'm("latency/p75") is not None'
deepclock report run.json -f csv | grep -c 'latency/p75'
for wrong in p49 p99.995 avg P90 p; do
	deepclock bench -q --statistic $wrong zoo:simplenet
	echo $?
done
