# Profiles of Python's cProfile: the numbers of each function as in pstats, paths from callers.
cat > make.py <<'END'
import marshal
main, f, g, leaf = ("x.py", 1, "main"), ("x.py", 5, "f"), ("x.py", 9, "g"), ("~", 0, "<built-in method leaf>")
rec = ("x.py", 20, "rec\u00e9")
stats = {
    main: (1, 1, 0.001, 0.1, {}),
    f: (2, 2, 0.002, 0.06, {main: (2, 2, 0.002, 0.06)}),
    g: (1, 1, 0.003, 0.023, {main: (1, 1, 0.003, 0.023)}),
    leaf: (3, 3, 0.078, 0.078, {f: (2, 2, 0.058, 0.058), g: (1, 1, 0.02, 0.02)}),
    rec: (1, 10, 0.016, 0.016, {main: (1, 1, 0.004, 0.016), rec: (9, 9, 0.012, 0.012)}),
}
marshal.dump(stats, open("cp.prof", "wb"))
marshal.dump(dict(stats), open("old.prof", "wb"), 2)
marshal.dump({}, open("empty.prof", "wb"))
END
python3 make.py
deepclock report cp.prof
deepclock report cp.prof --by path
# The same in the oldest marshal version in use; converted to other formats, and back.
deepclock report old.prof | tail -n +2 >old.txt
deepclock report cp.prof | tail -n +2 | sed s/cp.prof/old.prof/ | cmp - old.txt
deepclock report cp.prof -o again.pstats && deepclock report again.pstats | tail -n +2
python3 -c '
import pstats
print([(f[2], round(t[2], 6), round(t[3], 6)) for f, t in sorted(pstats.Stats("again.pstats").stats.items())])'
deepclock view cp.prof --no-browser -o cp.html && grep -c "<html" cp.html
deepclock report empty.prof
# Corrupt files of any kind: a message, or a report.
cat > damage.py <<'END'
import marshal, random, subprocess
whole, r = open("cp.prof", "rb").read(), random.Random(7)
def odd(value):
    return marshal.dumps({("a", 1, "b"): value})
cases = [whole[:n] for n in range(2, len(whole), 9)]
for _ in range(60):
    b = bytearray(whole)
    for _ in range(3):
        b[r.randrange(2, len(b))] = r.randrange(256)
    cases.append(bytes(b))
cases += [odd(1), odd((1, 1, 0.0, 0.0)), odd((1, 1, float("nan"), 1.0, {})), odd((1, 1, "x", 1.0, {})),
          odd((-1, 1, 0.0, 0.0, {})), odd((2 ** 80, 1, 0.0, 0.0, {})), odd((1, 1, 1.0, 1.0, {5: 1})),
          odd((1, 1, 1.0, 1.0, [])), marshal.dumps({(1, 2): (1, 1, 1.0, 1.0, {})}),
          b"{(" + b"\xff\xff\xff\x7f", b"{" + b")\x01" * 100 + b"N", b"{" + b"\xa9\x01r\0\0\0\0"]
wrong = 0
for n, bytes_ in enumerate(cases):
    with open("bad.prof", "wb") as f:
        f.write(bytes_)
    p = subprocess.run(["deepclock", "report", "bad.prof"], capture_output=True)
    if p.returncode not in (0, 1) or (p.returncode == 1) != bool(p.stderr) or p.stderr.count(b"\n") > 1:
        wrong += 1
        print(n, p.returncode, p.stderr)
print(len(cases), "tried,", wrong, "wrong")
END
python3 damage.py
