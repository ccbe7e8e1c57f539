# The heap and the resident memory over time: a megabyte that is allocated for a while.
heap-program || exit
deepclock memory --rate 200 --quiet --save run.json -- ./program late >out || cat out
record run.json 'max(s("memory/heap")["values"]) == 2**20' 's("memory/heap")["values"][0] == 0' \
	'max(s("memory/anonymous")["values"]) - min(s("memory/anonymous")["values"]) >= 2**20' 'm("memory/heap_peak")["value"]' \
	'"at " in f("result", "answer")' 'f("memory", "polls") > 10' 's("memory/rss")["unit"]'
