# An engine whose run takes 2 ms for any batch: the largest batch is the best, exactly.
deepclock throughput --quiet --engine null --engine-option sleep_ns=2000000 --details --point-time 40ms \
	--batch 1,4,8 --rounds 2 --save run.json zoo:simplenet > text
echo $?
grep -c '^Throughput by batch' text
record run.json 'm("throughput/best_batch")["value"]' 'm("throughput/knee_batch")["value"]' \
	'f("throughput", "limited_by")' 'r["command"]' 'f("plan", "batch")' \
	's("batch/by_batch")["values"]' 's("throughput/by_batch")["unit"]' 's("latency/by_batch")["unit"]' \
	'm("throughput/best").get("lo", 0) <= m("throughput/best")["value"] <= m("throughput/best").get("hi", 1e99)' \
	'[t["name"] for t in r["tables"]]' '[c["key"] for c in r["tables"][0]["columns"]]' \
	'[row[0] for row in r["tables"][0]["rows"]]' '[row[3] for row in r["tables"][0]["rows"]]' \
	'r.get("incomplete", False)' 'f("throughput", "others_cpu") >= 0' 'f("subject", "name")' 'f("engine", "name")'
