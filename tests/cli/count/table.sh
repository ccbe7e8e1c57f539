# The record: columns, their sums, the overhead of counting.
count-program || exit
deepclock count --no-history --save run.json -- ./program calls fib 2>notes | sed -n 1p
record run.json '[c["key"] for c in t("functions")["columns"]]' '[c["key"] for c in t("processes")["columns"]]' \
	'r["trees"][0]["name"]' '[w["key"] for w in r["trees"][0].get("weights", r["trees"][0].get("columns"))]' \
	'all(row[3] <= row[2] * 1.000001 for row in t("functions")["rows"])' \
	'abs(sum(row[3] for row in t("functions")["rows"]) - max(row[2] for row in t("functions")["rows"])) < 1000' \
	'0 < f("cost", "per_call") < 100000' 'f("count", "calls")' 'f("count", "processes")' 'f("count", "threads")' \
	'0 < f("cost", "share") <= 1' 'f("result", "exit_status")' 'f("method", "functions")'
deepclock count --no-history --top 1 --format csv -- ./program fib calls 2>notes | grep -c '/calls'
