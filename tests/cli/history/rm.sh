# Records by their ids: all of them or none, and what they were is said.
history-lines 5 > a
history-lines 3 prefix=b subject=zoo:b > b
deepclock history import a b
deepclock history | wc -l
deepclock history --limit 2 -f csv | wc -l
deepclock history rm b0000 --dry-run
deepclock history rm b0000 last 0003
echo $?
deepclock history list -f csv | cut -d, -f1 | cut -c1-5
# An id twice is one; one that is not there, or is the beginning of several, leaves all.
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
# Verbs of other programs, and an id in the place of one.
for verb in delete ls diff gc lst b0002 last~1 florp; do
	deepclock history $verb
	echo $?
done
