# heavy
# Every number of threads at every batch size.
need-ort || exit 77
deepclock throughput --details --quiet --batch 1,16 --threads 2,1 --point-time 40ms --rounds 2 --save run.json zoo:two_layer > text
echo $?
record run.json '[row[:2] for row in r["tables"][0]["rows"]]' '[c["key"] for c in r["tables"][0]["columns"]][:3]' \
	's("batch/by_batch")["values"]'
# Requests in flight run concurrently: three of them, with runs that sleep, have three times the throughput.
deepclock throughput --details --quiet --engine null --engine-option sleep_ns=20000000 --batch 2 --in-flight 3,1 --point-time 400ms \
	--rounds 2 --save run.json zoo:simplenet > text
echo $?
record run.json '[row[:2] for row in r["tables"][0]["rows"]]' '[c["key"] for c in r["tables"][0]["columns"]][:3]' \
	'r["tables"][0]["rows"][1][2]["value"] > 1.5 * r["tables"][0]["rows"][0][2]["value"]' \
	'm("throughput/best_batch")["value"]'
