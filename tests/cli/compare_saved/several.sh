# More than two: each against the first, with one family-wise error.
saved-record base latency/median 100e3 99.99e3 100.01e3 > base.json
saved-record weak latency/median 102e3 101.085e3 102.9e3 > weak.json
saved-record slow latency/median 110e3 109.9e3 110.1e3 > slow.json
saved-record fast latency/median 50e3 49.9e3 50.1e3 > fast.json
deepclock compare base.json weak.json slow.json fast.json --format json > all.json
echo "exit $?"
record all.json 'f("compare", "verdict/weak.json")' 'f("compare", "verdict/slow.json")' \
	'f("compare", "verdict/fast.json")' 'round(m("compare/ratio/weak.json")["level"], 6)' \
	'round(m("compare/ratio/slow.json")["level"], 6)' 'round(m("compare/ratio/fast.json")["value"], 6)'
deepclock compare fast.json fast.json fast.json > /dev/null
echo "exit $?"
