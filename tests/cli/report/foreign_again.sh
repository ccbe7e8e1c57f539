# Files that deepclock writes in formats of other programs have the same sums by function when they are read back.
cat > prog.py <<'END'
def leaf(n):
    return sum(range(n))
def work(n):
    return [leaf(100) for _ in range(n)]
work(200)
work(300)
END
python3 -m cProfile -o cp.prof prog.py
# A record with two trees, the second with two weights of one unit.
cat > more.py <<'END'
import json
r = json.load(open("a.json"))
r["trees"].append({"name": "heap", "title": "Heap: by call path",
                   "columns": [{"key": "peak", "title": "peak", "unit": "B"}, {"key": "leaked", "title": "leaked", "unit": "B"}],
                   "frames": [{"name": "main", "file": "a.c", "line": 3}, {"name": "x;y"}, {"name": "leaf 12"}],
                   "nodes": [[-1, 0, 100, 0], [0, 1, 20, 3], [1, 2, 5, 2], [0, 2, 7, 0], [-1, 2, 1, 1]]})
json.dump(r, open("two.json", "w"))
END
cat > same.py <<'END'
import json, sys
def functions(path, tree, weight):
    t = json.load(open(path))["trees"][tree]
    k = [c["key"] for c in t["columns"]].index(weight)
    own = {}
    for node in t["nodes"]:
        name = t["frames"][node[1]]["name"].replace(";", " ")
        own[name] = own.get(name, 0) + node[2 + k]
    return own
_, a, tree, weight, b, tree_b, weight_b, least, near = sys.argv
x, y = functions(a, int(tree), weight), functions(b, int(tree_b), weight_b)
x = {name: v for name, v in x.items() if v > 0}
off = {name: (v, y.get(name, 0)) for name, v in x.items() if abs(v - y.get(name.replace(";", " "), 0)) > float(near)}
print(weight, "the same" if not off and len(x) >= int(least) else (off, len(x)))
END
deepclock report cp.prof --format json >a.json
python3 more.py
deepclock report cp.prof --weight self -o a.speedscope.json
deepclock report two.json -o b.speedscope.json.gz
deepclock report cp.prof -o a.folded
for f in a.speedscope.json b.speedscope.json.gz a.folded; do deepclock report $f --format json >$f.json; done
python3 same.py a.json 0 self a.speedscope.json.json 0 self 6 1e-3
python3 same.py a.json 0 self b.speedscope.json.gz.json 0 self 6 1e-3
python3 same.py a.json 0 calls b.speedscope.json.gz.json 0 calls 6 1e-3
# The name of its second tree is the title.
deepclock report b.speedscope.json.gz --tree "Heap: by call path" --weight peak
deepclock report b.speedscope.json.gz --tree "Heap: by call path" --weight leaked --by function
# Folded stacks hold integers.
python3 same.py a.json 0 self a.folded.json 0 samples 6 1000
