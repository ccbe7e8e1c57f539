# --undisturbed decides by latency/undisturbed, whose values tell another story than the medians: other programs made the
# second record three times as slow.
few='2 of 61 runs had their processors to themselves, too few for an interval'
saved-record a latency/median 100e3 99.9e3 100.1e3 and:latency/undisturbed:90e3:89.9e3:90.1e3 > a.json
saved-record b latency/median 300e3 299e3 301e3 and:latency/undisturbed:90e3:89.8e3:90.2e3 > b.json
saved-record c latency/median 100e3 99.9e3 100.1e3 and:latency/undisturbed:99e3:98.9e3:99.1e3 > c.json
saved-record few latency/median 100e3 99.9e3 100.1e3 "absent:latency/undisturbed:$few" > few.json
try() {
	deepclock compare --save run.json "$@" > out 2> err
	echo "exit $?"
	cat err
	[ ! -s out ] || record run.json 'f("compare", "verdict")' 'f("compare", "metric")'
	grep -A4 '^warning: .* no interval' out
}
try a.json b.json
try --undisturbed a.json b.json
try a.json c.json
try --undisturbed a.json c.json
echo "-- too few runs: no verdict, whatever the medians are"
try --undisturbed a.json few.json
try --undisturbed few.json c.json
echo "-- of one process: starts differ, by --run-to-run"
for i in a c; do sed 's/"metrics"/"x": 0, "metrics"/; s/"facts": \[/&{"section": "method", "key": "processes", "value": 1}, /' $i.json > $i-one.json; done
try --undisturbed a-one.json c-one.json --run-to-run 30%
try --undisturbed a-one.json c-one.json --run-to-run 1%
echo "-- so do rates and CPU times; counts do not"
for of in throughput/items cpu/time counter/instructions throughput/best; do
	saved-record a $of 100e3 99.9e3 100.1e3 method/processes=1 > one.json
	saved-record b $of 102e3 101.9e3 102.1e3 method/processes=1 > other.json
	try --metric $of one.json other.json
done
echo "-- one metric decides"
try --undisturbed --metric latency/median a.json c.json
try --undisturbed --statistic mean a.json c.json
echo "-- in the history"
deepclock history import a.json c.json few.json
deepclock history compare --undisturbed 6161 6363 > out
echo "exit $?"
deepclock history compare 6161 6363 > out
echo "exit $?"
deepclock history compare --undisturbed --statistic mean 6161 6363
echo "exit $?"
deepclock history trend --undisturbed latency/p99
echo "exit $?"
echo "-- a trend, of the records that have it"
saved-record a latency/median 200e3 199e3 201e3 "absent:latency/undisturbed:$few" | sed 's/"id": "61/"id": "71/' > other.json
deepclock history import other.json
deepclock history trend --undisturbed --subject a
