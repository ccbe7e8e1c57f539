# heavy
# The engine itself, measured twice: matching records are found.
need-ort || exit 77
deepclock bench zoo:simplenet --quiet --runs 20 --save a.json > text
deepclock bench zoo:simplenet --quiet --runs 20 --threads 1 --save b.json > text
deepclock bench zoo:simplenet --quiet --runs 20 --save c.json > text
deepclock history list --format csv | cut -d, -f3,4,5,9,10
deepclock history trend --format json > trend.json
python3 -c '
import json
t = json.load(open("trend.json"))
facts = {f["section"] + "/" + f["key"]: f.get("value") for f in t["facts"]}
print(len(t["tables"][0]["rows"]), facts["trend/left_out_incomplete"], facts["trend/left_out_other"], facts["engine/name"])'
deepclock history show last --format json | cmp - c.json && echo the same bytes
# Twenty runs may be conclusive, or not.
deepclock history compare last~2 last --margin 90% > text 2> err
case $? in 0 | 4) echo compared ;; *) cat err ;; esac
