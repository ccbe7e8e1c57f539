# heavy
# Verdicts and exit statuses; too few requests for a verdict are reported as such.
common="--quiet --engine null --engine-option sleep_ns=300000 --warmup 2 zoo:simplenet"
verdicts='[row[-1] for t in r["tables"] if t["name"] == "load/limits" for row in t["rows"]]'
codes='[n["code"] for n in r["notes"] if n["code"].startswith("slo")]'
try() {
	deepclock load --details $common "$@" --save run.json > text 2> err
	echo $?
	record run.json 'f("load", "verdict")' "$codes" "$verdicts"
	wc -l < err
}
# The result also depends on scheduling: a system that stops the program makes it inconclusive.
either() { # VERDICT OPTION...
	sure=$1
	shift
	deepclock load --details $common "$@" --save run.json > text 2> err
	echo $? > code
	record run.json "set($verdicts) <= {'inconclusive', '$sure'}" \
		"f('load', 'verdict') == max($verdicts, key=['met', 'inconclusive', 'violated'].index)" \
		"[c[4:] for c in $codes] == $verdicts" \
		"[0, 4, 3][['met', 'inconclusive', 'violated'].index(f('load', 'verdict'))] == int(open('code').read())" \
		"$verdicts.count('violated') == len(open('err').readlines())" | sed 's/.*: //'
}
try --requests 3000 --slo 'p90<=200us'
either met --requests 6000 --slo 'median<=10s'
either met --requests 6000 --slo 'p99.9<=10s' --slo 'median<=10s'
try --requests 3000 --slo 'p99.9<=10s' --slo 'median<=200us'
# A mean is judged by its interval; a maximum is violated by one request and never shown to be met.
either met --requests 6000 --slo 'mean<=10s'
either violated --requests 400 --slo 'mean<=1us'
either met --requests 2000 --slo 'max<=10s' --slo 'p82.5<=10s'
record run.json 'note("slo-inconclusive")["text"][:55]'
try --requests 500 --slo 'max<=200us'
# A rate above the capacity: unstable, and without a limit this is not a failure. The queue holds
# 0.1 s: a system that stops the stream for a moment must not fill it before the first request is served.
deepclock load --details $common --rate 20000 --max-queue 2000 --time 60s --save run.json > text 2> err
echo $?
record run.json 'r["incomplete"]' 'note("unstable")["severity"]' 'm("load/queue_max")["value"] > 100' \
	'm("load/utilisation")["value"] > 1'
try --rate 20000 --max-queue 2000 --time 60s --slo 'p90<=10s'
