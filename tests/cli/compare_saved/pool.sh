# The last record against all earlier ones: their scatter decides, not the interval of each record.
i=0
for v in 100 104 102 98; do
	i=$((i + 1))
	saved-record base latency/median ${v}e3 ${v}e3 ${v}e3 > old$i.json
done
saved-record base latency/median 104e3 103.9e3 104.1e3 > like.json
saved-record base latency/median 115e3 114.9e3 115.1e3 > slow.json
deepclock compare --details old1.json like.json > /dev/null
echo "exit $?"
deepclock compare --details old?.json like.json --pool > out
echo "exit $?"
sed -n 's/^ *verdict: //p' out
deepclock compare old?.json slow.json --pool --format json > run.json
echo "exit $?"
record run.json 'f("compare", "verdict")' 'round(m("compare/ratio")["lo"], 6)' \
	'[(row[0], row[4]) for row in r["tables"][0]["rows"]]'
deepclock compare --details old1.json old2.json slow.json --pool
echo "exit $?"
