deepclock zoo --format json | python3 -c 'import json, sys; print(*(r[0] for r in json.load(sys.stdin)["tables"][0]["rows"]))'
deepclock zoo --format csv | head -n 1
