# Allocations of known size are found to the byte, with the lines of their callers.
heap-program || exit
for what in leak peak temporary grow aligned; do
	echo "--- $what"
	deepclock memory --quiet --save run.json -- ./program $what >out || cat out
	record run.json 'm("memory/heap_leaked")["value"]' 'm("memory/heap_peak")["value"]' 'm("memory/allocations")["value"]' \
		'm("memory/temporary")["value"]' 'm("memory/allocated")["value"]' 'm("memory/heap_runtime")["value"]' \
		'f("memory", "leaked_blocks")' 'f("memory", "stacks_failed")' '[n["code"] for n in r["notes"]]'
	record run.json '[row[:6] for row in t("memory/lines")["rows"]]' | sed 's/\], \[/],\n[/g'
done
