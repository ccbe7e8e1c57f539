# The provider's name has that of the device in it.
deepclock bench --quiet --runs 3 --warmup 0 --engine null --save r.json zoo:simplenet > out
python3 - <<'PY'
import json
r = json.load(open("r.json", encoding="utf-8"))
for section, key, value in (("engine", "provider", "cuda:0"), ("plan", "device", "cuda")):
    r["facts"] = [f for f in r["facts"] if (f["section"], f["key"]) != (section, key)]
    r["facts"].append({"section": section, "key": key, "value": value})
json.dump(r, open("r.json", "w", encoding="utf-8"))
PY
deepclock report r.json | sed -n '1s/, [0-9]* runs.*//p'
