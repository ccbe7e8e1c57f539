# A model is measured in six starts by itself, if starting is quick; what is of one process is not.
try() { deepclock bench --quiet --engine null --engine-option ns=100000 --warmup 5 --save run.json "$@" zoo:simplenet > text; }
try --precision 100% --max-time 3s
record run.json 'f("method", "processes")' 'f("plan", "processes")' 'f("plan", "max-time")' 'f("method", "starting_share") <= 0.5' \
	'm("latency/median")["level"]' 'sum(t["tag"].startswith("latency/process/") for t in r["series"])' 'r["incomplete"]'
grep -c 'median.* 96.9 %' text
grep -c 'of one start' text
for options in '--processes 1 --precision 100%' '--max-time 1ms' '--runs 60' '--time 10ms' '--statistic p95 --precision 100% --max-time 3s' \
	'--max-warmup 1ms --warmup auto --precision 100% --max-time 3s' '--trace t.json --precision 100% --max-time 3s'; do
	try $options
	echo "$options: $(grep -c 'of one start' text)"
	record run.json 'f("method", "processes")'
done
# Outputs are compared once, for all; every writer has the six.
try --precision 100% --max-time 3s --check-outputs --html page.html --figures pictures
echo $?
record run.json 'f("method", "processes")' 'sum(n["code"] == "outputs-differ" for n in r["notes"])'
ls pictures | grep svg
grep -o '6 processes in turn' pictures/runs.svg
deepclock report run.json --format markdown | grep -c '96.9 %'
