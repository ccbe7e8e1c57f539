# Verdicts and exit statuses; requests too few for a verdict are said to be.
common="--quiet --engine null --engine-option sleep_ns=300000 --warmup 2 zoo:simplenet"
try() {
	deepclock load --details $common "$@" --save run.json > text 2> err
	echo $?
	record run.json 'f("load", "verdict")' '[n["code"] for n in r["notes"] if n["code"].startswith("slo")]' \
		'[row[-1] for t in r["tables"] if t["name"] == "load/limits" for row in t["rows"]]'
	wc -l < err
}
try --requests 3000 --slo 'p90<=200us'
try --requests 6000 --slo 'median<=10s'
try --requests 6000 --slo 'p99.9<=10s' --slo 'median<=10s'
try --requests 3000 --slo 'p99.9<=10s' --slo 'median<=200us'
# A mean is judged by its interval; a maximum is broken by one request and never shown to hold.
try --requests 6000 --slo 'mean<=10s'
try --requests 400 --slo 'mean<=1us'
try --requests 2000 --slo 'max<=10s' --slo 'p82.5<=10s'
record run.json 'note("slo-not-shown")["text"][:55]'
try --requests 500 --slo 'max<=200us'
# More than can be served: unstable, and without a limit that is no failure. The queue has room for
# 0.1 s: a system that stops the stream for a moment must not fill it before the first is served.
deepclock load --details $common --rate 20000 --max-queue 2000 --time 60s --save run.json > text 2> err
echo $?
record run.json 'r["incomplete"]' 'note("unstable")["severity"]' 'm("load/queue_max")["value"] > 100' \
	'm("load/utilisation")["value"] > 1'
try --rate 20000 --max-queue 2000 --time 60s --slo 'p90<=10s'
