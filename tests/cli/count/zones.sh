# Zones are rows next to functions: of all processes, however they end, also where no function is counted.
count-program || exit
zoned() {
	echo "$*"
	deepclock count --no-history -q --save run.json -- ./zoned "$@" >out 2>&1
	record run.json 'sorted((row[0], row[1], row[6] if row[6] == "zone" else "") for row in t("functions")["rows"])' \
		'[n["code"] for n in r["notes"] if n["code"] not in ("count-price", "busy-neighbours", "steal")]' 'f("count", "zones")' 'f("count", "zone_processes")'
}
zoned
zoned _exit
zoned interrupted
zoned fork
zoned kill
zoned exec
zoned apart
# An inner zone is below its outer zone; zones have no self time among functions, which the summary ranks.
deepclock report run.json --callers inner --format json >callers.json
record callers.json '[row[0] for row in r["tables"][0]["rows"]]'
deepclock count --no-history -- ./zoned 2>&1 | grep -c "of all functions'\|  functions'"
zone=$(dirname "$(readlink -f "$(command -v deepclock)")")/tests/zones/zone_program
deepclock count --no-history --save run.json -- "$zone" forks 2>&1 | sed -n '2,4s/ has the most self time.*//p'
record run.json 'sorted((row[0], row[1]) for row in t("functions")["rows"])' 'f("count", "zone_processes")' 'f("cost", "per_zone") > 0'
deepclock count --no-history --no-functions --save run.json -q -- "$zone" >out 2>&1
record run.json 'r.get("tables")'
# Killed before a zone was written: no zones are known, which does not mean that there are none.
deepclock count --no-history --save run.json -q -- "$zone" killed >out 2>&1
record run.json '"count-zones-cut" in [n["code"] for n in r["notes"]]' '"has no zones" in str(r["notes"])'
