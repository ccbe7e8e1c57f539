history-lines 250 commits=5 > lines
deepclock history import lines
deepclock history export > exported
python3 - <<'PY'
import json
a = [json.loads(line) for line in open("lines")]
b = [json.loads(line) for line in open("exported")]
for record in a:
    del record["spans"], record["spans_lost"] # of older records
    for m in record["metrics"]:
        m.setdefault("how", None)
for record in b:
    for m in record["metrics"]:
        m.setdefault("how", None)
print("the same" if a == b else "others", len(b))
PY
echo -- into another one, twice
deepclock history import exported --db other.db
deepclock history import exported --db other.db
deepclock history export --db other.db | cmp - exported && echo the same
echo -- as numbers
deepclock history export --csv --limit 2
deepclock history export --csv | wc -l
echo -- to a full disk
deepclock history export > /dev/full
echo "exit $?"
deepclock history export --csv > /dev/full
echo "exit $?"
echo -- to a file of another format
deepclock history export --out page.html
echo "exit $?"
test -e page.html || echo no file
