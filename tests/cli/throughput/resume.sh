# Killed in the middle: the same command continues after the last finished trial.
search() {
	"$@" deepclock throughput --quiet --engine null --engine-option sleep_ns=3000000 --batch 1,2,4,8 \
		--point-time 60ms --rounds 2 --resume journal --save run.json zoo:simplenet > text
	echo $?
}
search killed-in-search
sed -n '$p' text
lines=$(wc -l < journal)
printf '{"schema": 1, "deepcl' >> journal # a partial line, like that of a writer killed in the middle
search
record run.json "f('method', 'trials_resumed') >= 3 and f('method', 'trials_resumed') == $lines - 1" \
	'm("throughput/best_batch")["value"]' 'f("engine", "name")' \
	'f("method", "trials") > f("method", "trials_resumed")' '[f["section"] for f in r["facts"] if f["section"] == "trial"]'
# Once more: no trial remains.
search
record run.json 'f("method", "trials") == f("method", "trials_resumed")' 'm("throughput/best_batch")["value"]' \
	'f("engine", "name")'
# The journal of one search is refused by another.
deepclock throughput --quiet --engine null --resume journal zoo:simplenet
echo $?
deepclock throughput --quiet --engine null --engine-option sleep_ns=3000000 --batch 1,2,4,16 \
	--point-time 60ms --rounds 2 --resume journal zoo:simplenet
echo $?
echo text > other
deepclock throughput --quiet --engine null --resume other zoo:simplenet
echo $?
cat other
deepclock throughput --quiet --engine null --resume no/such/folder zoo:simplenet
echo $?
