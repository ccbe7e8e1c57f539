# heavy
# Doubling, then between the best and its adjacent sizes, then rounds; the last step is --max-batch itself.
deepclock throughput --quiet --engine null --engine-option sleep_ns=1000000 --max-batch 12 --point-time 30ms \
	--rounds 2 --save run.json zoo:simplenet > text
echo $?
record run.json '{1, 2, 4, 8, 10, 12} <= set(s("batch/by_batch")["values"])' 'm("throughput/best_batch")["value"] >= 10' \
	'f("throughput", "limited_by")' 'f("method", "rounds") >= 2'
# If the time of a run is proportional to the batch, there is no gain: the knee is 1, limited by saturation.
need-ort || exit 77
deepclock throughput --quiet --threads 1 --max-batch 8 --point-time 40ms --rounds 2 --max-time 20s \
	--image-size 32 --save run.json zoo:conv2d > text
echo $?
record run.json 'm("throughput/best")["value"] > 0' '1 <= m("throughput/best_batch")["value"] <= 8' \
	'm("throughput/knee_batch")["value"] <= m("throughput/best_batch")["value"]' \
	'all(row[5] > 0 for row in r["tables"][0]["rows"])' \
	'f("throughput", "limited_by") in ("saturation", "max-batch", "time")' \
	'"yes" in [row[-1] for row in r["tables"][0]["rows"]]'
