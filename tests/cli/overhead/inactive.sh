# A method that could not profile anything has no value: deepclock is in a directory without its preload libraries.
sampled-program || exit
cp "$(readlink -f "$(command -v deepclock)")" alone
./alone memory --quiet --save memory.json -- ./program shares 20 >/dev/null 2>said
echo "memory: $?, $(grep -c "allocations of './program' were not recorded" said)"
record memory.json 'm("memory/heap_peak")["absent"] is not None' 'm("memory/peak_rss")["value"] > 2**16' \
	'note("allocations-not-traced")["severity"]'
./alone overhead --quiet --rounds 2 --method count --method memory --save run.json -- ./program shares 20 >/dev/null
echo "overhead: $?"
record run.json '[[row[0], row[2]] for row in t("overhead")["rows"][1:]]' \
	'["not recorded: " in row[6] or "no function was counted" in row[6] for row in t("overhead")["rows"][1:]]' \
	'[n["code"] for n in r["notes"] if n["code"] not in ("busy-neighbours", "steal")]'
# None of its functions counts calls, whichever library is available.
deepclock overhead --quiet --rounds 2 --method count --save run.json -- ./program shares 20 >/dev/null
record run.json 't("overhead")["rows"][1][2]'
