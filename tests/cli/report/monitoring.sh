# Metrics for monitoring systems: OpenMetrics text, a request of OTLP, Bencher's JSON.
saved-record a latency/median 100000 99000 101000 > a.json
saved-record 'b"\' latency/median 300000 1 1 > b.json
saved-record a latency/median 200000 199000 201000 > again.json
deepclock report a.json b.json again.json -o all.prom
cat all.prom
deepclock report a.json b.json again.json --format bencher
deepclock report a.json --format otlp -o a.otlp
python3 - <<'END'
import json
with open("a.otlp", encoding="utf-8") as f:
    text = f.read()
resource, = json.loads(text)["resourceMetrics"]
scope, = resource["scopeMetrics"]
print(text.count("\n"), scope["scope"]["name"])
for m in scope["metrics"]:
    point, = m["gauge"]["dataPoints"]
    print(m["name"], m["unit"], point["asDouble"], point.get("timeUnixNano", "").isdigit(), sorted(a["key"] for a in point["attributes"]))
END
