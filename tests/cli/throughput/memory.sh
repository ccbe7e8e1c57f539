# heavy
# A batch that does not fit ends that point and not the search; finished points remain.
need-ort || exit 77
deepclock throughput --quiet --memory 700MiB --batch 1,512,600 --point-time 50ms --rounds 2 --save run.json \
	zoo:resnet18 > text
echo $?
record run.json 'm("throughput/best_batch")["value"]' 'f("throughput", "limited_by")' \
	'f("throughput", "memory_budget")' '[[row[0], row[3]] for row in r["tables"][0]["rows"]]' \
	'note("point-memory")["severity"]' 'r["tables"][0]["rows"][1][1]'
# A memory budget below that of every batch.
deepclock throughput --quiet --memory 30MiB --save none.json zoo:resnet18 > text
echo $?
record none.json 'note("no-batch-fits")["severity"]' 'm("throughput/best")' \
	'[[row[0], row[3]] for row in r["tables"][0]["rows"]]'
