# Files of other kinds are refused with what they are; a byte order mark before folded stacks is none of their names.
printf '\050\265\057\375....' > trace.json.zst
printf '\037\213\010....' > run.json.gz
printf 'SQLite format 3\0....' > nsys.sqlite
printf '\357\273\277main;a 5\nmain;b 6\n' > mark.folded
for file in trace.json.zst run.json.gz nsys.sqlite; do
	deepclock report $file
	echo "exit $?"
done
deepclock report mark.folded -f folded
