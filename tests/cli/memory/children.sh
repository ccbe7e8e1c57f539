# Each process has its own heap: a child does not own what it inherited, and exec() starts an empty heap.
heap-program || exit
for what in fork exec; do
	deepclock memory --quiet --save run.json -- ./program $what >out || cat out
	record run.json 'm("memory/heap_leaked")["value"]' 'sorted(row[3] for row in t("memory/processes")["rows"])' \
		'sorted(row[0] for row in t("memory/lines")["rows"])' 'len({row[1] for row in t("memory/processes")["rows"]})'
done
