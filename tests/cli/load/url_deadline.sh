# Every third stream does not end: a deadline ends it. On a busy machine others may miss it too.
ask="--quiet --url URL/v1/completions --model m --rate 200 --requests 30 --new-tokens 8 --save run.json"
for fail in endless hang; do
	with-server every=3 gap=20000 ttft=0 fail=$fail -- deepclock load $ask --timeout 2s > text 2> err
	echo $fail $?
	record run.json 'sum(row[1] for row in t("load/outcomes")["rows"])' '[row[1] for row in t("load/outcomes")["rows"] if row[0] == "timed out"][0] >= 10' \
		'sum(v == 2e9 for v in s("latency")["values"]) >= 10'
done
# Streams that hang until Ctrl-C are no answers within the limit.
with-server every=2 fail=hang -- timeout --preserve-status -s INT 3 deepclock load --quiet --url URL/v1/completions --model m --rate 100 \
	--time 60s --new-tokens 2 --slo 'median<=1s' --save run.json > text 2> err
echo $?
record run.json 'f("load", "verdict") != "met"' 'm("load/abandoned")["value"] > 50'
