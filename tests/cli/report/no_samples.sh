# A record of sample without samples has no call paths, and why.
sampled-program || exit
deepclock sample --no-history -q --save run.json -- ./program shares 1 >/dev/null 2>&1
python3 - <<'END'
import json
r = json.load(open("run.json"))
r.pop("trees", None)
next(f for f in r["facts"] if f["section"] == "sample" and f["key"] == "samples")["value"] = 0
json.dump(r, open("none.json", "w"))
END
deepclock report none.json -o none.folded
