history-lines 12 change=6 factor=2 commits=2 | deepclock history import -
deepclock history trend --format csv
deepclock history trend --format json > trend.json
python3 - <<'PY'
import json
t = json.load(open("trend.json"))
for f in t["facts"]:
    print(f["section"], f["key"], f.get("value", f.get("absent")))
points = [dict(zip((c["key"] for c in t["tables"][0]["columns"]), r)) for r in t["tables"][0]["rows"]]
print(len(points), points[0])
print([(i, p["id"], p["before"], p["after"], p["change_p"]) for i, p in enumerate(points) if type(p["change_p"]) is float])
PY
deepclock history trend --limit 3 --format json
