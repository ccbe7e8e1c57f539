# Times by samples: calls are as exact as with a clock, times are estimates or absent.
count-program || exit
count() { deepclock count --no-history -q "$@" >out 2>&1; }
for words in 'calls fib' deep jump 'threads leave' children 'fib kill' signal 'libraries ./first.so ./other.so'; do
	echo "$words"
	count --save exact.json -- ./program $words
	count --times sampled --save run.json -- ./program $words
	record exact.json 'sorted((row[0], row[1], row[5]) for row in t("functions")["rows"])' | sed 's/^[^:]*: //' >exact
	record run.json 'sorted((row[0], row[1], row[4]) for row in t("functions")["rows"])' | sed 's/^[^:]*: //' >sampled
	cmp exact sampled
done
count --times sampled --save run.json -- ./many 40
record run.json '[row[1] for row in t("functions")["rows"] if row[0] == "leaf"]' 'f("count", "threads") <= 41'
# A program that ends before a sample: no time is not a time of 0.
count --times sampled --save run.json -- ./program
record run.json 'f("count", "samples") > 0 or all("absent" in row[2] and "absent" in row[3] for row in t("functions")["rows"])' \
	'f("cost", "per_call") > 0' '[c["key"] for c in t("functions")["columns"]]' '[c["key"] for c in r["trees"][0]["columns"]]'
# Hoeffding's bound of weighted samples, 2 exp(-2 n e^2) = 5e-11, around the wall times that the program has found.
count --times sampled --save run.json -- ./program shares
record run.json 'f("count", "effective_samples") > 0' 'f("method", "functions")' \
	'abs((lambda s: s["thrice"] / max(s["once"] + s["thrice"], 1))({row[0]: row[3].get("value", 0) for row in t("functions")["rows"]}) - (lambda once, thrice: thrice / (once + thrice))(*map(float, open("out").readline().split()))) < 3.5 / math.sqrt(f("count", "effective_samples")) + 0.02'
# After exec() nothing is charged to the function that called it: another program sleeps for a second.
count --times sampled --save run.json -- ./program exec
record run.json '[row[:2] for row in t("functions")["rows"]]' 't("functions")["rows"][0][3].get("value", 0) < f("count", "elapsed") - 5e8'
deepclock count --times sampled --sort overhead -- ./program calls
deepclock count --times nonsense -- ./program calls
