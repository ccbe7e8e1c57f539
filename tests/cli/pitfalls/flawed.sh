# A plug-in whose flaws are known: each mistake moves the number as far as the plug-in says.
command -v "${CC:-cc}" > /dev/null || { echo "no C compiler"; exit 77; }
"${CC:-cc}" -shared -fPIC -I "$TESTS/../../include" -o flawed.so "$TESTS/../plugins/flawed.c" -lm || exit 1
# Others may use this machine: only what they cannot bring about is checked.
deepclock pitfalls --details --quiet --time 100ms --save run.json plugin:flawed.so \
	--engine-option ns=200000 --engine-option first_ns=20000000 --engine-option denormal_ns=200000 \
	--engine-option bind_ns=100000 > text 2> notes
echo $?
cat > read.py <<'END'
import json, os
r = json.load(open("run.json"))
table = next(t for t in r["tables"] if t["name"] == "pitfalls/mistakes")
metrics = {m["tag"]: m for m in r["metrics"]}
factor = lambda key: metrics["pitfalls/" + key].get("value")
print(len(table["rows"]), [c["key"] for c in table["columns"]])
print(1.8 < factor("denormals") < 2.2)
print(1.4 < factor("binding-inside") < 1.6)
print(factor("inputs-inside") > 1.4)
print(factor("too-many-threads") > 1.9)
print(factor("first-call-in-10") > 5, factor("first-call-in-10") > factor("first-call-in-100"))
print(0.8 < factor("no-warmup") < 1.25)
print(factor("seconds-clock") != 1)
print(metrics["pitfalls/profiler-on"]["absent"])
print(metrics["pitfalls/batch-divided"]["absent"])
print(next(f["value"] for f in r["facts"] if (f["section"], f["key"]) == ("pitfalls", "method"))[:40])
END
python3 read.py
grep -c "^  -[a-z]:" text
grep -A4 "^  denormals$" text | grep -c "what:\|why:\|do:"
