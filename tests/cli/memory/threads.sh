# Threads that end while others allocate, and free memory of other threads; stacks of libraries that were
# unloaded; allocation in a signal handler, also while it interrupts a hook; stacks that are too deep.
heap-program || exit
deepclock memory --quiet --save run.json -- ./program threads >out || cat out
record run.json 'm("memory/heap_leaked")["value"]' 'f("memory", "leaked_blocks")' 'f("memory", "threads")' \
	'sum(row[3] for row in t("memory/functions")["rows"] if row[0] == "thread")' '"to within" in m("memory/heap_peak")["how"]'
deepclock memory --quiet --save run.json -- ./program unload >out || cat out
record run.json 'm("memory/heap_leaked")["value"]' 'sorted(row[:1] + row[2:4] for row in t("memory/functions")["rows"] if row[3] == 1 and row[0] != "main")'
deepclock memory --quiet --save run.json -- ./program signals >out || cat out
record run.json 'm("memory/heap_leaked")["value"]' 'm("memory/allocations")["value"] >= 3000000'
deepclock memory --quiet --save run.json -- ./program recursion >out || cat out
record run.json 'm("memory/heap_leaked")["value"]' 'f("memory", "stacks_truncated")' 'f("memory", "stacks_failed")' \
	 '[row[:4] for row in t("memory/lines")["rows"] if row[2]]'
