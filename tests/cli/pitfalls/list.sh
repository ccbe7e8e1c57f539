# The mistakes by their keys, in every format; nothing is measured.
deepclock pitfalls --list
echo $?
deepclock pitfalls --list --format json | python3 -c '
import json, sys
t = json.load(sys.stdin)["tables"]
rows = [dict(zip((c["key"] for c in t[0]["columns"]), r)) for r in t[0]["rows"]]
print(len(rows), sorted(rows[0]), all(all(r.values()) for r in rows))'
deepclock pitfalls --list --format csv | python3 -c '
import csv, sys
rows = list(csv.DictReader(sys.stdin))
print(len(rows), list(rows[0]), rows[-1]["key"])'
deepclock pitfalls --list > /dev/full
echo $?
