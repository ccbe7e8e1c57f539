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
echo -- each family and each name once: classes in other scripts, tags that differ by a character, two units of one tag
python3 - <<'END'
import json
with open("a.json", encoding="utf-8") as f:
    r = json.load(f)
for tag, unit, value in (("f1/犬", "1", 0.5), ("f1/猫", "1", 0.25), ("f1/C++", "1", 1), ("f1/C--", "1", 1), ("x/y", "ns", 3), ("x/y", "ns", 4),
                         ("x.y", "ns", 5), ("x/y/lower", "B", 6), ("record/time", "ns", 7), ("long/" + "ü" * 80 + "a", "1", 8),
                         ("long/" + "ü" * 80 + "b", "1", 9), ("throughput/items", "items/s", 10)):
    r["metrics"].append({"tag": tag, "unit": unit, "value": value})
r["metrics"][5].update(lo=1, hi=4, level=0.95)
with open("classes.json", "w", encoding="utf-8") as f:
    json.dump(r, f)
r["metrics"] = [{"tag": "throughput/items", "unit": "runs/s", "value": 11}]
r["id"] = "00"
r["facts"] = []
with open("program.json", "w", encoding="utf-8") as f:
    json.dump(r, f)
END
deepclock report classes.json program.json a.json -o classes.prom
sed '/latency/d; /_long_/d; s/{[^}]*}//; /^# UNIT/d' classes.prom | cut -c1-120
grep '^# TYPE' classes.prom | sort | uniq -d
deepclock report classes.json -f otlp -o classes.otlp
python3 - <<'END'
import json
with open("classes.otlp", encoding="utf-8") as f:
    scope, = json.load(f)["resourceMetrics"][0]["scopeMetrics"]
names = [m["name"] for m in scope["metrics"]]
print(len(names) - len(set(names)), max(len(n) for n in names), [n for n in names if ".x." in n])
END
