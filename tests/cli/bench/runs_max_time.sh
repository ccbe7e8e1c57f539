# --runs and --max-time: whichever is reached first ends it, also in fresh processes and with the default value.
null() {
	deepclock bench --quiet --no-history --warmup 0 --engine null --engine-option sleep_ns=2000000 --save run.json \
		"$@" zoo:simplenet > text
	echo $?
}
null --runs 1000000 --max-time 300ms
record run.json '10 < m("runs/count")["value"] < 1000' 'f("method", "stop")' 'note("imprecise")' 'f("plan", "max-time")'
null --runs 5 --max-time 50s
record run.json 'm("runs/count")["value"]' 'f("method", "stop")'
null --runs 6 --max-time 20ms --processes 2
record run.json '2 <= m("runs/count")["value"] <= 12' 'f("method", "stop")'
null --runs 5 --max-time 10s
record run.json 'm("runs/count")["value"]'
# Several subjects are measured in rounds.
deepclock bench --quiet --runs 9 --max-time 1s zoo:simplenet zoo:two_layer
echo $?
