# However a program ends, its allocations until then are reported.
heap-program || exit
for what in killed leave; do
	deepclock memory --quiet --save run.json -- ./program $what >out
	echo $?
	record run.json 'm("memory/heap_leaked")["value"]' '[n["code"] for n in r["notes"]]' 'r["incomplete"]'
done
deepclock memory -- ./no-such-program
echo $?
deepclock memory
echo $?
deepclock memory --rate 0 -- true
echo $?
