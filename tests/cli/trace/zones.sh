zone-program || exit
deepclock trace --no-waits --lossless --save run.json -- ./program | sed -n '1,3s/ spends .*//p'
record run.json 'r["tables"][0]["name"]' '[[c["key"] for c in r["tables"][0]["columns"]]]' \
	'f("trace", "events")' 'f("trace", "dropped_events")' 'f("trace", "waits_for_room")' 'f("trace", "format")' 'f("trace", "threads")'
deepclock trace --no-waits --format csv -o other.pftrace -- ./program | grep /calls
ls -- *.pftrace
