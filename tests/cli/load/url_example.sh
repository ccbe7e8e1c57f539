# The example of docs/commands/load.md, on a server with known delays.
line=$(sed -n 's/^    \$ \(deepclock load --url .*\)/\1/p' "$TESTS/../../docs/commands/load.md" | sed 's|http://[^/]*/|URL/|; s/--time 60s/--time 3s/')
echo "$line"
eval "with-server ttft=180000 gap=20000 -- $line --quiet --save run.json" > text 2> err
record run.json 'sum(row[1] for row in t("load/outcomes")["rows"]) == m("runs/count")["value"] > 0' 'f("load", "verdict") in ("met", "inconclusive")' \
	'[row[0] for row in t("load/summary")["rows"]]' '[row[0] for row in t("load/limits")["rows"]]'
