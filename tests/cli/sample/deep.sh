# A stack that exceeds the copied part: the fact, the note, and the innermost callers.
sampled-program || exit
deepclock sample --quiet --source perf --stack 8KiB --save run.json -- ./program deep 200 >/dev/null 2>why.txt ||
	{ grep -q perf_event why.txt && { echo "the kernel permits no perf_event"; exit 77; }; cat why.txt; exit 1; }
sampled-shares run.json
# Truncated or failed stacks are those that do not reach main(): all of the work,
# and nothing else. The loader and exit() have an occasional sample, with a complete stack.
python3 - <<'END'
import json
r = json.load(open("run.json"))
tree = r["trees"][0]
column = 2 + [c["key"] for c in tree["columns"]].index("samples")
roots, works, cut, work, whole = [], [], 0, 0, 0
for node in tree["nodes"]:
    name = tree["frames"][node[1]]["name"]
    roots.append(roots[node[0]] if node[0] >= 0 else name)
    works.append(name == "shares" or (node[0] >= 0 and works[node[0]]))
    cut += node[column] * (roots[-1] == "deep")
    work += node[column] * works[-1]
    whole += node[column] * works[-1] * (roots[-1] != "deep")
fact = {f["key"]: f.get("value") for f in r["facts"] if f["section"] == "sample"}
print("cut are those without their beginning:", fact["stacks_truncated"] <= cut <= fact["stacks_truncated"] + fact["stacks_failed"])
print("all of the work is cut:", work > 0 and whole == 0)
END
record run.json 'note("sample-cut") is not None'
deepclock sample --quiet --stack 64000 --rate 200 --save run.json -- ./program deep 200 >/dev/null
record run.json 'f("sample", "stacks_truncated") > 0'
