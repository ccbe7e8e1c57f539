# rm removes records by their ids: all of them or none, and prints what it removed.
history-lines 5 > a
history-lines 3 prefix=b subject=zoo:b > b
deepclock history import a b
deepclock history | wc -l
deepclock history --limit 2 -f csv | wc -l
deepclock history rm b0000 --dry-run
deepclock history rm b0000 last 0003
echo $?
deepclock history list -f csv | cut -d, -f1 | cut -c1-5
# A repeated id counts once; an unknown id, or an ambiguous prefix, removes nothing.
deepclock history rm b0001 b0001
deepclock history rm 0000 nothere
echo $?
deepclock history rm 000
echo $?
deepclock history rm
echo $?
deepclock history rm 0000 --keep 3
echo $?
deepclock history list -f csv | wc -l
deepclock history check | sed 's/,.*,/,/'
# Verbs of other programs, and an id where a verb is expected.
for verb in delete ls diff gc lst b0002 last~1 florp; do
	deepclock history $verb
	echo $?
done
# A record may have no time.
saved-record untimed latency/median 1 - - | sed 's/"began": "[^"]*", //' > untimed.json
deepclock history import untimed.json
deepclock history rm last --dry-run
