# A run takes 5 ms for any batch: 16 items are served 16 times as fast as one, which delays on a busy machine do not hide.
# Every batch meets 100 s, none meets 1 us, however two trials scatter.
search() {
	deepclock throughput --details --quiet --engine null --engine-option sleep_ns=5000000 --batch 1,16 --point-time 100ms \
		--rounds 2 --save run.json zoo:simplenet "$@" > text
	echo $?
	record run.json 'm("throughput/best_batch").get("value")' \
		'[row[[c["key"] for c in r["tables"][0]["columns"]].index("status")] for row in r["tables"][0]["rows"]]' \
		'f("throughput", "limited_by")' '[c["title"] for c in r["tables"][0]["columns"]][:4]' \
		'f("throughput", "verdict")' 'f("result", "gate")' '[n["code"] for n in r["notes"] if n["code"].startswith("slo")]'
	grep -q '^Throughput by batch' text && echo table
}
search --slo 'median <= 100s'
# A percentile needs independent runs, and runs on a busy machine are not: inconclusive is then correct.
deepclock throughput --details --quiet --engine null --engine-option sleep_ns=5000000 --batch 1 --point-time 100ms --rounds 2 \
	--slo 'p90<=100s' --save run.json zoo:simplenet > text 2> why
code=$?
[ $code = 0 ] || [ $code = 4 ] && record run.json '[c["title"] for c in r["tables"][0]["columns"]][:4]'
# A maximum can be violated, and no run shows that it is met: the answer is printed, the exit status is 4.
search --slo 'max<=100s' 2> err
cat err
# A percentile that is not a metric of records.
search --slo 'p97.5<=1us' 2> err
search --slo 'p99<=1us' 2> err
sed 's/batch [0-9]* comes nearest with [^:]*$/batch N comes nearest with TIME/' err
# The nearest is the one whose limited statistic is the least, not whose median is.
search --slo 'max<=1us' 2> err | head -1
record run.json 'note("slo-not-met")["text"].split()[6] == str(min(t("throughput/points")["rows"], key=lambda row: row[3])[0])'
