# Legal records that no command writes: facts of other kinds, no name at all, summaries of no more than names, levels near 100 %.
saved-record a latency/median 100000 99000 101000 compare/varies=7 profile/device_time=yes op:conv:Conv:60000:100 > kinds.json
deepclock report kinds.json | head -1
saved-record a latency/median 100000 99000 101000 subject/title= | sed 's/"key": "name"/"key": "other"/; s/"command": "[^"]*", //' > nameless.json
deepclock report nameless.json | head -1
echo -- levels
sed 's/"level": 0.95/"level": 0.9999/' kinds.json > sure.json
sed 's/"level": 0.95/"level": 0.5/; s/"id": ".."/"id": "00/' kinds.json > unsure.json
deepclock report sure.json | grep -o ' [0-9.]* %' | head -1
saved-record a latency/median 100000 99000 101000 and:latency/mean:100000:99000:101000 | sed 's/"level": 0.95/"level": 0.9999/' > both.json
deepclock report both.json --details | grep '\[ \]'
deepclock report kinds.json -f markdown | sed -n 1p
deepclock report kinds.json sure.json -f markdown | sed -n '1p;3,4p'
echo -- tables
python3 - <<'END'
import json
with open("kinds.json", encoding="utf-8") as f:
    r = json.load(f)
r["facts"] = [{"section": "result", "key": "answer", "value": "an answer"}]
r["ops"] = []
r["tables"] = [{"name": "t", "title": "T", "columns": [{"key": "k", "title": "k"}, {"key": "n", "title": "n", "unit": "1"}],
                "rows": [[1, 1], ["1", 2], ["x", 3], ["x#2", 4], ["x", 5]], "summary_columns": [0, 1]}]
with open("table.json", "w", encoding="utf-8") as f:
    json.dump(r, f)
END
deepclock report table.json | grep -A9 ' k '
deepclock report table.json -f csv | grep -o '"t/.*/n",.'
