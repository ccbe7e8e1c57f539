# A library that is loaded and unloaded more often than there are rows for modules keeps its name.
heap-program || exit
deepclock memory --quiet --save run.json -- ./program reload >out || cat out
record run.json 'm("memory/heap_leaked")["value"]' 'sorted(row[:1] + row[2:4] for row in t("memory/functions")["rows"] if row[2] > 1000)'
