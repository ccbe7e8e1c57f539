# heavy
# The search: the rate increases until it exceeds the capacity, unless a stalled machine leaves a rate inconclusive;
# and a limit that no rate meets.
common="--quiet --engine null --engine-option sleep_ns=2000000 --warmup 2 --max-time 20s zoo:simplenet"
deepclock load --details $common --find-peak --slo 'median<=1s' --precision 50% --confidence 80% --time 1s --max-queue 200 \
	--save run.json > text 2> err
echo $? > code
record run.json '{"met": 0, "inconclusive": 4}[f("load", "verdict")] == int(open("code").read())' \
	'"value" not in m("load/peak_rate") or 10 < m("load/peak_rate")["value"] < 500' \
	'"lo" not in m("load/peak_rate") or m("load/peak_rate")["lo"] < m("load/peak_rate")["hi"] < 3000' \
	'f("load", "verdict") == "inconclusive" or [row[-1] for t in r["tables"] if t["name"] == "load/steps" for row in t["rows"]].count("unstable") > 0' \
	'f("load", "verdict") == "inconclusive" or len([t for t in r["tables"] if t["name"] == "load/steps"][0]["rows"]) >= 2'
# A rate at which no request arrives.
deepclock load --details $common --find-peak --slo 'median<=1s' --rate 0.01 --time 900ms --save run.json > text 2> err
echo $?
record run.json 'f("result", "answer")' 'note("search-cut")["text"]'
deepclock load --details $common --find-peak --slo 'p90<=1ms' --save run.json > text 2> err
echo $?
sed 's/p90 is .*$/p90 is .../' err
record run.json 'f("load", "verdict")' 'm("load/peak_rate")["absent"]' 'm("runs/count")["value"] > 50'
