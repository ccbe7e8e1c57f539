# A program that measures inside a zone: runs and operators are inside that zone, in both calls.
need-ort || exit 77
built=$(dirname "$(readlink -f "$(command -v deepclock)")")/tests/zones/zone_measures
[ -x "$built" ] || { echo "zone_measures was not built"; exit 77; }
deepclock trace --save run.json -- "$built" zoo:simplenet 20 > /dev/null
echo $?
cat > paths.py <<'EOF'
import json
tree = json.load(open("run.json"))["trees"][0]
paths = []
for parent, frame, calls, _ in tree["nodes"]:
    paths.append((paths[parent][0] + " > " if parent >= 0 else "") + tree["frames"][frame]["name"])
    paths[-1] = (paths[-1], calls)
calls = dict(paths)
for path in ("", " > bench zoo:simplenet", " > bench zoo:simplenet > session", " > bench zoo:simplenet > measure > run",
             " > profile zoo:simplenet"):
    print("main > measure here" + path, calls.get("main > measure here" + path))
runs = next(p for p in calls if p.endswith("profiled run"))
operators = [p for p in calls if "Gemm" in p]
print(len(operators), "operators,", *{p.rsplit(" > ", 1)[0] for p in operators})
print(all(calls[p] == calls[runs] for p in operators))
EOF
python3 paths.py
record run.json 'f("trace", "moved_events")' 'f("trace", "dropped_events")' 'f("trace", "unmatched_ends")'
