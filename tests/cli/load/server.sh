# Open-loop arrivals: the same seed gives the same arrivals, and the latency includes the waiting time.
common="--quiet --engine null --engine-option sleep_ns=1000000 --warmup 2 --format json zoo:simplenet"
for seed in 1 1 2; do
	deepclock load --details $common --rate 400 --requests 200 --streams 2 --seed $seed 2> /dev/null > run$seed.json
	echo $?
	record run$seed.json '[round(a - r["series"][0]["at_ns"][0]) for a in r["series"][0]["at_ns"]]' > at
	mv at at$seed.$(ls at$seed.* 2> /dev/null | wc -l)
done
cmp at1.0 at1.1 && echo same
cmp -s at1.0 at2.0 || echo another
record run1.json 'f("load", "scenario")' 'm("runs/count")["value"]' \
	'all(l >= w + 1e6 for l, w in zip(r["series"][0]["values"], r["series"][1]["values"]))' \
	'[s["tag"] for s in r["series"]]' '[t["name"] for t in r["tables"]]' \
	'm("load/utilisation")["value"] > 0.1' 'm("load/dispatch_lag_mean")["value"] >= 0' 'm("latency/p99")["absent"] != ""'
# Constant-rate arrivals are exact.
deepclock load --details $common --rate 100 --arrivals constant --requests 5 2> /dev/null > run.json
record run.json '[round((a - r["series"][0]["at_ns"][0]) / 1e6) for a in r["series"][0]["at_ns"]]'
# A trace of arrivals, at its own rate and twice as fast.
printf 'arrival,user\n10,a\n10.01,b\n10030ms,c\n' > trace.csv
deepclock load --details $common --trace trace.csv 2> /dev/null > run.json
record run.json 'note("header-skipped")["text"]' 'f("result", "answer").split(" takes ")[0]'
record run.json '[round((a - r["series"][0]["at_ns"][0]) / 1e6) for a in r["series"][0]["at_ns"]]' \
	'round(f("load", "trace_rate"), 3)' 'round(m("load/offered_rate")["value"], 3)'
deepclock load --details $common --trace trace.csv --rate 133.333333333 2> /dev/null > run.json
record run.json '[round((a - r["series"][0]["at_ns"][0]) / 1e6) for a in r["series"][0]["at_ns"]]'
# The rate of a constant one, and of a trace of a server, is that of the gaps; of one request it is the requested one.
for n in 3 1; do
	deepclock load --details $common --rate 100 --arrivals constant --requests $n 2> /dev/null > run.json
	record run.json 'round(m("load/offered_rate")["value"], 6)' '"nan" not in f("result", "answer")'
done
with-server -- deepclock load --quiet --url URL/v1/completions --model m --trace trace.csv --save run.json > text 2> err
record run.json 'round(m("load/offered_rate")["value"], 3)'
# A byte-order mark is not a heading.
printf '\357\273\2770\n0.01\n0.02\n' > mark.csv
deepclock load --details $common --trace mark.csv 2> /dev/null > run.json
record run.json 'm("runs/count")["value"]' 'note("header-skipped")'
# The short result without a limit has the parts of the latency too.
deepclock load --quiet --engine null --warmup 2 --rate 400 --requests 20 zoo:simplenet |
	grep -o 'a request takes\|^  queue wait'
