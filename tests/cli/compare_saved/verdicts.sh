# Each verdict with its exit status, from known intervals.
saved-record base latency/median 100e3 99.9e3 100.1e3 > base.json
try() {
	saved-record new latency/median $1 $2 $3 > new.json
	deepclock compare --details base.json new.json $4 $5 > out
	code=$?
	sed -n 's/^ *verdict: //p' out
	echo "exit $code"
}
try 100.1e3 100e3 100.2e3
try 105e3 104.9e3 105.1e3
try 95e3 94.9e3 95.1e3
try 101e3 98e3 104e3
try 99e3 98e3 100e3
try 105e3 104.9e3 105.1e3 --margin 10%
try 100.1e3 100e3 100.2e3 --margin 0
echo "-- what would decide: more runs, unless the starts of two processes may differ by more"
of() {
	saved-record base latency/median 100e3 $1 $2 $6 > base.json
	saved-record new latency/median $3 $4 $5 $6 > new.json
	deepclock compare --details base.json new.json --margin 1% | tr '\n' ' ' | tr -s ' ' | grep -o 'warning: new.json: [^[]*'
}
of 98e3 102e3 103e3 100.94e3 105.06e3 x/y=1
of 99.9e3 100.1e3 103e3 102.9e3 103.1e3 method/processes=1
of 98e3 102e3 106.5e3 104.45e3 108.65e3 method/processes=1
of 70e3 140e3 100.1e3 70e3 140e3 x/y=1
of 98e3 102e3 101e3 98.94e3 103.06e3 x/y=1
