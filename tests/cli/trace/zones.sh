zone-program || exit
deepclock trace --no-waits --lossless --save run.json -- ./program | sed -n '1,3s/ has the most self time.*//p'
record run.json 'r["tables"][0]["name"]' '[[c["key"] for c in r["tables"][0]["columns"]]]' \
	'f("trace", "events")' 'f("trace", "dropped_events")' 'f("trace", "buffer_full_waits")' 'f("trace", "format")' 'f("trace", "threads")'
deepclock trace --no-waits --format csv -o other.pftrace -- ./program | grep /calls
ls -- *.pftrace
deepclock trace --no-waits --percentiles p50,p90,p99 --save run.json -- ./program >out
record run.json '[c["key"] for c in t("zones")["columns"]][7:]' '[isinstance(c, dict) for c in t("zones")["rows"][0][7:]]' \
	't("zones")["rows"][0][8]' 'f("method", "percentiles")'
deepclock report trace.pftrace --percentiles p50 --format csv | grep -c p50
