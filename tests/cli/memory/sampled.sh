# Estimates from samples of a program whose allocations are known: each is within 15 % of the truth, and of the
# child within 25 %. At least 3,600 and 1,200 samples are behind each, so that this is more than 8 standard
# deviations.
heap-program || exit
deepclock memory --quiet --sample 4KiB --save run.json -- ./program sampled >out || cat out
near() { # NAME BLOCKS BYTES: of the allocations below that function
	record run.json "[abs(sum(row[i] if isinstance(row[i], (int, float)) else row[i]['value'] for row in t('memory/functions')['rows']
		if row[0] == '$1') / n - 1) < 0.15 for i, n in ((3, $2), (5, $3))]" | sed "s/^.*: /$1: /; /^\[abs/d; /^	/s/^.*]: /$1: /"
}
near keep_small 150000 15000000
near pass 50000 50000000
near resize 20000 30000000
near align 20000 20480000
near keep_in_thread 100000 20000000
record run.json 'abs(m("memory/heap_leaked")["value"] / 35e6 - 1) < 0.15' 'abs(m("memory/temporary")["value"] / 60e3 - 1) < 0.15' \
	'all(m("memory/" + tag)["lo"] < m("memory/" + tag)["value"] < m("memory/" + tag)["hi"] for tag in ("heap_peak", "heap_leaked", "allocations", "allocated"))' \
	'abs(m("memory/heap_peak")["value"] / 30e6 - 1) < 0.15' 'm("memory/heap_leaked")["how"].startswith("estimated from ")' \
	'f("memory", "sample_interval")' 'f("memory", "samples") > 25000' 'f("memory", "samples_leaked") > 8000' 'f("memory", "unseen")' \
	'all(abs(row[i]["value"] / n - 1) < 0.25 for i in (2, 3) for row, n in zip(sorted(t("memory/processes")["rows"], key=lambda row: row[2]["value"]), (5e6, 30e6)))' \
	'[c["key"] for c in t("memory/functions")["columns"]][1:9]' 'all("estimated" in t(name)["title"] for name in ("memory/functions", "memory/lines"))' \
	'[s["tag"] for s in r["series"]]' \
	'[c["key"] for c in r["trees"][0]["columns"]]' '[n["code"] for n in r["notes"]]'
echo "--- a block much larger than the interval is certain, and its intervals have no width below it"
deepclock memory --quiet --sample 64 --save run.json -- ./program peak >out || cat out
record run.json 'm("memory/heap_peak")["value"]' 'm("memory/heap_peak")["lo"]' 'm("memory/heap_leaked")["absent"]' \
	'[[row[0], row[1]["value"], row[6]] for row in t("memory/functions")["rows"] if row[0] in ("half", "peak")]'
echo "--- no sample is no 0"
deepclock memory --sample 100GB --save run.json -- ./program leak | sed -n '1,3p'
record run.json 'm("memory/heap_peak")["absent"]' 'm("memory/allocations")["absent"]' 't("memory/functions")["rows"]'
echo "--- the formats say what is estimated"
deepclock memory --quiet --sample 64 --save run.json -- ./program leak peak >out || cat out
for format in text csv markdown html; do
	deepclock report run.json --details --format $format >shown 2>&1
	grep -q 'est[.i]' shown && grep -q estimate shown && echo $format
done
echo "--- mistakes"
deepclock memory --sample 1k -- ./program leak 2>&1
deepclock memory --sample 512KiB --rss-only -- ./program leak 2>&1
deepclock memory --sample 512KiB --pid $$ 2>&1
