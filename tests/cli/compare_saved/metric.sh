# Other metrics: which direction is better, counts, and a metric that no record has.
saved-record a throughput/items 200 198 202 > a.json
saved-record b throughput/items 250 248 252 > b.json
deepclock compare a.json b.json --metric throughput/items --format json > run.json
echo "exit $?"
record run.json 'round(m("compare/ratio")["value"], 6)' 'f("compare", "verdict")'
deepclock compare --details b.json a.json --metric throughput/items > /dev/null
echo "exit $?"
deepclock cost --quiet zoo:simplenet --save one.json > /dev/null
deepclock cost --quiet zoo:simplenet --batch 2 --save two.json > /dev/null
deepclock compare one.json two.json --format json > run.json
echo "exit $?"
record run.json 'm("compare/ratio")["value"]' 'f("compare", "metric")' '"host" in [x["section"] for x in r["facts"]]'
deepclock compare --details one.json two.json --metric cost/params | sed -n 's/^ *verdict: //p'
saved-record m memory/peak_rss 1000 - - > m.json
saved-record n memory/peak_rss 2000 - - > n.json
deepclock compare --details m.json n.json --metric memory/peak_rss > out
echo "exit $?"
sed -n 's/^ *verdict: //p' out
for args in 'a.json b.json' 'a.json b.json --metric throughput/item' 'a.json one.json' \
	'one.json two.json --metric latency/p99' 'one.json two.json --metric cost/intensity'; do
	deepclock compare --details $args
	echo "exit $?"
done
echo "-- words of the verdict; and a ratio that is one of times"
deepclock cost --quiet zoo:squeezenet1_1 --save other.json > /dev/null
deepclock compare one.json other.json --metric cost/params | sed -n '/parameters:/p; /other.json  /p'
saved-record b throughput/items 190 170 210 > c.json
deepclock compare a.json c.json --metric throughput/items | sed -n '/undecided:/p'
