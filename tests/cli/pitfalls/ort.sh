# heavy
# The real engine: every mistake on a small network, and what a text says of it.
need-ort
deepclock pitfalls --details --quiet --time 100ms --threads 1 --save run.json zoo:simplenet > text 2> notes
echo $?
cat > read.py <<'END'
import json
r = json.load(open("run.json"))
m = {x["tag"][9:]: x for x in r["metrics"] if x["tag"].startswith("pitfalls/")}
print(sorted(k for k in m if "absent" in m[k] and k != "few-for-tail"))
for key in ("session-inside", "inputs-inside", "profiler-on", "first-call-in-10"):
    print(key, m[key]["value"] > 1)
print(m["batch-divided"]["value"] < 1)
tables = {t["name"]: t for t in r["tables"]}
verdicts = {row[4] if not isinstance(row[4], dict) else row[4].get("value") for row in tables["pitfalls/mistakes"]["rows"]}
print(verdicts <= {"harm", "no harm here", "not resolved", "not measured"})
harmful = [row for row in tables["pitfalls/mistakes"]["rows"] if "harm" in (row[4], (row[4] or {}).get("value") if isinstance(row[4], dict) else None)]
print(len(harmful) == len(tables["pitfalls/remedies"]["rows"]) > 2)
END
python3 read.py
# The text again from the record.
deepclock report --details run.json > again
grep -c "What harms here" text again
