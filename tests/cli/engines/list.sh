deepclock engines | sed -n 's/^\([a-z][a-z]*\)  *.*/\1/p'
deepclock engines --format csv | grep -v '^ort,' | grep usable
deepclock engines --format json | python3 -c '
import json, sys
for e in json.load(sys.stdin):
    print(e["name"], type(e["usable"]).__name__, bool(e["help"]), len(e["options"]) > 0)'
