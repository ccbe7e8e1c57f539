# The comparison is a record: it can be saved, read and exported, and it keeps its gate.
saved-record old latency/median 100e3 98e3 103e3 > old.json
saved-record new latency/median 110e3 107e3 112e3 > new.json
deepclock compare old.json new.json --format json --save kept.json > out.json
echo "exit $?"
cmp out.json kept.json
record kept.json 'round(m("compare/ratio")["value"], 9)' 'round(m("compare/ratio")["lo"], 9)' \
	'round(m("compare/ratio")["hi"], 9)' 'm("compare/ratio")["level"]' 'f("compare", "verdict")' \
	'f("compare", "gate")' '[t["name"] for t in r["tables"]]' '[n["code"] for n in r["notes"]]'
deepclock report --details kept.json > again
grep -c 'verdict: slower' again
deepclock compare old.json new.json --format csv | grep -c compare/ratio
deepclock compare --details old.json - < new.json > out
echo "exit $?"
deepclock compare --details kept.json old.json
deepclock compare --details old.json new.json > /dev/full
