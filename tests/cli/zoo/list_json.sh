deepclock zoo --format json | python3 -c 'import json, sys; print(*(e["name"] for e in json.load(sys.stdin)))'
deepclock zoo --format csv | head -n 1
