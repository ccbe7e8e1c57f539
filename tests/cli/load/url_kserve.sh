# An ordinary model by KServe's protocol: its tensors come from the model's metadata.
with-server ttft=10000 log=log -- deepclock load --quiet --url URL/v2/models/m/infer --rate 50 --requests 40 --save run.json > text 2> err
echo $?
record run.json '[row[:2] for row in t("load/outcomes")["rows"]]' 'min(s("latency")["values"]) >= 10e6' 'f("load", "protocol")' \
	'f("subject", "served_model")' 'm("load/ttft/median")' '[row[0] for row in t("load/summary")["rows"]]' 'm("load/failed")["value"]'
with-server -- deepclock load --quiet --url URL/v2/models/m/infer --rate 50 --slo 'ttft-p90<=1s' 2>&1
echo $?
cut -d' ' -f1 log | sort | uniq -c | sed 's/^ *//'
