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
