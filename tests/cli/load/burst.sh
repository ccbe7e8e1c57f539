# More simultaneous requests than the queue can hold: none is served, and the output reports this.
printf '0\n0\n0\n1\n' > burst.csv
common="--quiet --engine null --warmup 2 zoo:simplenet --trace burst.csv --max-queue 2"
deepclock load $common
echo $?
deepclock load $common --slo 'p90<=1s'
echo $?
# With a queue of sufficient capacity all three are served.
deepclock load --engine null --quiet --warmup 2 zoo:simplenet --trace burst.csv --max-queue 3 --save run.json > text 2> err
echo $?
record run.json 'm("runs/count")["value"]'
# A search treats this rate as one that violates the limits, and continues.
deepclock load $common --slo 'p90<=1s' --find-peak --time 50ms --save run.json > text 2> err
echo $?
record run.json 'f("load", "verdict")' '{row[-1] for t in r["tables"] if t["name"] == "load/steps" for row in t["rows"]}' \
	'len([t for t in r["tables"] if t["name"] == "load/steps"][0]["rows"]) > 3' 'note("slo-not-met")["text"].split(", ")[-1]'
