# Profiles that cProfile made: calls, primitive calls, self and total of each function are those of pstats, in each view.
cat > make.py <<'END'
import ast, cProfile, json, pstats, threading

def leaf(n):
    return sum(i * i for i in range(n))

def helper(n):
    sorted(range(n))
    return leaf(n)

def learn():
    return [helper(20) for _ in range(60)]

def once():
    helper(4000)

def plain():
    learn(), once(), helper(1)

def a(n):
    leaf(30)
    return b(n - 1) if n else 0

def b(n):
    leaf(60)
    return a(n - 1) if n else 0

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def numbers(n):
    for i in range(n):
        helper(i)
        yield from (leaf(i) for _ in range(2))

def mutual():
    for _ in range(5):
        a(40)

def generators(): # sum() calls numbers(), whose leaf() calls sum(): a cycle
    return sum(numbers(40))

def visits():
    class Names(ast.NodeVisitor):
        def visit_Name(self, node):
            leaf(5)
            self.generic_visit(node)
        def visit_Call(self, node):
            self.generic_visit(node)
    Names().visit(ast.parse(open(__file__).read()))
    ast.dump(ast.parse(open(__file__).read()))
    json.dumps([[[1, [2, {"a": [3]}]]]] * 20, indent=1)

def profile(name, f):
    p = cProfile.Profile()
    p.runcall(f)
    p.dump_stats(name)
    return p

def threads():
    parts = []
    each = [threading.Thread(target=lambda f=f: parts.append(profile("part.prof", f))) for f in (mutual, plain, generators)]
    for t in each:
        t.start()
        t.join()
    both = pstats.Stats(parts[0])
    for p in parts[1:]:
        both.add(p)
    both.dump_stats("threads.prof")

profile("plain.prof", plain)
profile("recursion.prof", lambda: fib(12))
profile("mutual.prof", mutual)
profile("inside.prof", lambda: a(9)) # the recursive function is itself near the top
profile("generators.prof", generators)
profile("visits.prof", visits)
threads()
END
cat > compare.py <<'END'
import collections, json, pstats, subprocess, sys

def report(*words):
    made = subprocess.run(["deepclock", "report", *words, "--format", "json"], capture_output=True, text=True, check=True)
    return json.loads(made.stdout)

def table(r, name):
    t = next(t for t in r["tables"] if t["name"] == name)
    return [dict(zip((c["key"] for c in t["columns"]), row)) for row in t["rows"]]

def key(row):
    return row["file"], row["line"] if isinstance(row["line"], int) else 0, row["name"]

def same(what, got, want):
    for f in want.keys() | got.keys():
        x, y = got.get(f), want.get(f)
        if x is None or y is None or any(abs(p - q) > 1e-6 * abs(q) + 2 for p, q in zip(x, y)):
            print("  ", what, f, x, y)
            return 1
    return 0

def sums(tree):
    """calls, self and total in ns of each function, over the paths of a tree"""
    n, total, functions = tree["nodes"], [row[3] for row in tree["nodes"]], collections.defaultdict(lambda: [0, 0, 0])
    name = lambda i: (lambda f: (f.get("file", ""), f.get("line", 0), f["name"]))(tree["frames"][n[i][1]])
    for i in reversed(range(len(n))):
        if n[i][0] >= 0:
            total[n[i][0]] += total[i]
    for i, row in enumerate(n):
        f, up = functions[name(i)], row[0]
        while up >= 0 and name(up) != name(i):
            up = n[up][0]
        f[0], f[1], f[2] = f[0] + row[2], f[1] + row[3], f[2] + (total[i] if up < 0 else 0)
    return functions

wrong = 0
for name, recursive in (("plain", 0), ("recursion", 0), ("mutual", 1), ("inside", 1), ("generators", 1), ("visits", 1), ("threads", 1)):
    path = f"{name}.prof"
    stats = pstats.Stats(path).stats
    want = {f: (nc, cc, tt * 1e9, ct * 1e9) for f, (cc, nc, tt, ct, _) in stats.items()}
    numbers = lambda row: (row["calls"], row["primitive"], row["self"], row["total"])
    views = [report(path, "--sort", "cumulative", "--top", "100000"), report(path, "--by", "function", "--top", "100000")]
    for view in views:
        wrong += same(f"{name}: by function", {key(row): numbers(row) for row in table(view, "functions")},
                      {f: v for f, v in want.items() if v[2] or v[3]})
    rows = table(views[0], "functions")
    wrong += [row["total"] for row in rows] != sorted((row["total"] for row in rows), reverse=True)
    wrong += any(abs(row["total_per_call"] - row["total"] / row["primitive"]) > 1e-6 * row["total"] for row in rows)
    r = report(path)
    wrong += same(f"{name}: table", {key(row): numbers(row) for row in table(r, "functions")}, want)
    found = sums(r["trees"][0])
    wrong += "(estimated)" not in r["trees"][0]["title"]
    if name != "visits": # deep recursion leaves a remainder
        wrong += any(f[2] == "(callers not known)" for f in found)
    found = {f: v for f, v in found.items() if f[2] != "(callers not known)"}
    wrong += same(f"{name}: calls and self of paths", {f: v[:2] for f, v in found.items() if v[1]},
                  {f: (v[0], v[2]) for f, v in want.items() if v[2]})
    if not recursive:
        off = {f: v[3] - found[f][2] for f, v in want.items() if abs(v[3] - found[f][2]) > 1e-3 * v[3] + 2}
        wrong += len(off) > 0
        if off:
            print("  ", name, "totals of paths", off)
    subprocess.run(["deepclock", "report", path, "-o", "again.pstats"], check=True, stdout=subprocess.DEVNULL)
    again = pstats.Stats("again.pstats").stats
    wrong += same(f"{name}: written again", {f: (nc, cc, tt * 1e9, ct * 1e9) for f, (cc, nc, tt, ct, _) in again.items()},
                  {f: v for f, v in want.items() if f in again})
    d = report("--diff", "plain.prof", path, "--top", "100000")
    ours = {row["name"]: (row["self_b"], row["total_b"]) for row in table(d, "diff/functions") if row["name"] in ("a", "b", "fib")}
    wrong += same(f"{name}: difference", ours, {f[2]: v[2:] for f, v in want.items() if f[2] in ours})
    print(name, len(want), "functions" if len(want) > 1 else "function") if "-v" in sys.argv else None
print(wrong, "wrong")
END
python3 make.py
python3 compare.py
# The words of pstats and of `count`; an estimate is called one, and a long place is shortened.
for word in calls primitive self total file line module tottime cumtime cumulative ncalls pcalls; do
	deepclock report mutual.prof --sort $word --top 2 | sed -n 's/^Functions/&/p'
done
deepclock report mutual.prof --callers leaf | grep "^Calls"
# How many paths are too small to be shown depends on the times.
deepclock report mutual.prof --by path | sed -n "s/ (left out.*//; /^Calls/p; /place:/p"
