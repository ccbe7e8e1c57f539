history-lines 12 change=6 factor=2 commits=2 | deepclock history import -
deepclock history trend --format csv
deepclock history trend --format json > trend.json
python3 - <<'PY'
import json
t = json.load(open("trend.json"))
print(t["metric"], t["unit"], t["subject"], t["command"], len(t["points"]), t["left_out"])
print(t["points"][0])
print(t["changes"])
PY
deepclock history trend --limit 3 --format json
