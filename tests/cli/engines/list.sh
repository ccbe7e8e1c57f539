deepclock engines | sed -n 's/^\([a-z][a-z]*\)  *.*/\1/p'
deepclock engines --format csv | grep -v -e '^ort,' -e '^openvino,' -e '^litert,' -e '^genai,' | grep usable
deepclock engines --format json | python3 -c '
import json, sys
t = json.load(sys.stdin)["tables"]
rows = [dict(zip((c["key"] for c in t[0]["columns"]), r)) for r in t[0]["rows"]]
for name in dict.fromkeys(r["engine"] for r in rows):
    own = {r["key"]: r["value"] for r in rows if r["engine"] == name}
    print(name, own["usable"] in ("true", "false"), bool(own["help"]), any(r[0] == name for r in t[1]["rows"]))'
