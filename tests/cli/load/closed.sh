# One stream, several, and all at once: the reported metrics, and the warning of a closed loop.
common="--quiet --engine null --engine-option sleep_ns=1000000 --warmup 2 --format json zoo:simplenet"
deepclock load --details $common --requests 50 2> /dev/null > run.json
echo $?
record run.json 'f("load", "scenario")' 'm("runs/count")["value"]' 'note("coordinated-omission")["severity"]' \
	'm("latency/min")["value"] >= 1e6' 'len(r["series"][0]["values"])' '[t["name"] for t in r.get("tables", [])]'
deepclock load --details $common --requests 60 --streams 3 2> /dev/null > run.json
echo $?
record run.json 'f("load", "scenario")' 'm("runs/count")["value"]' 'note("coordinated-omission")["severity"]' \
	'm("throughput/items")["value"] * m("latency/mean")["value"] > 2e9' '[t["name"] for t in r["tables"]]' 'len(r["tables"][0]["rows"])'
deepclock load --details $common --requests 60 --streams 3 --serial 2> /dev/null > run.json
echo $?
record run.json 'm("throughput/items")["value"] * m("latency/mean")["value"] < 1.1e9'
deepclock load --details $common --requests 60 --streams 2 --scenario offline 2> /dev/null > run.json
echo $?
record run.json 'f("load", "scenario")' 'm("runs/count")["value"]' '"coordinated-omission" in [n["code"] for n in r["notes"]]'
