# The time ends during the growth: the best finished point, and a note.
deepclock throughput --quiet --engine null --engine-option sleep_ns=10000000 --point-time 200ms --max-time 1s \
	--save run.json zoo:simplenet > text
echo $?
record run.json 'note("throughput-few-trials")["severity"]' 'm("throughput/best")["value"] > 0' \
	'r.get("incomplete", False)' 'f("throughput", "limited_by")'
head -3 text | sed "s/[0-9]* sizes/N sizes/"
sed -n '/^ *batch/,/^$/p' text | grep -cw -e highest
sed -n '/^ *batch/,/^$/p' text | grep -cw -e best -e knee
