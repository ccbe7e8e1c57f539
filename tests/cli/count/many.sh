# heavy
# A hundred million calls: none is lost, and the result file is no larger than for one.
count-program || exit
deepclock count --no-history -q --save run.json -- ./program many >out 2>&1
record run.json 'sorted((row[0], row[1]) for row in t("functions")["rows"])' '[n["code"] for n in r["notes"] if n["code"] not in ("count-price", "busy-neighbours", "steal")]' \
	'len(r["trees"][0]["nodes"])'
echo "$(($(wc -c <run.json) < 20000))"
