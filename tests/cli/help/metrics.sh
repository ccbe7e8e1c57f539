# 'help metrics' has a row for each metric of the table.
deepclock help metrics > all
grep -A1 -e '^  latency/median' -e '^  throughput/items' -e '^  bandwidth/dram_triad/all' -e '^  precision/' all
grep -o -e "^  [^ ]*" all > names
sed -n 's/^X("\([^"]*\)".*/\1/p' "$TESTS/../../src/record/metrics.def" > tags
wc -l < tags | awk '{print ($1 > 70 ? "many" : "few") " rows"}'
while read -r tag; do
	grep -q -x -F -e "  $tag" names || echo "no row of $tag"
done < tags
deepclock help metric
