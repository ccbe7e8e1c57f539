# Every number of threads at every size.
need-ort || exit 77
deepclock throughput --quiet --batch 1,16 --threads 2,1 --point-time 40ms --rounds 2 --save run.json zoo:two_layer > text
echo $?
record run.json '[row[:2] for row in r["tables"][0]["rows"]]' '[c["key"] for c in r["tables"][0]["columns"]][:3]' \
	's("batch/by_batch")["values"]'
