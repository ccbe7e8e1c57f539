# A program that contains the library, with another copy preloaded: one of the two records.
zone-program zone_static || exit
for how in '' exec fork; do
	deepclock trace --format csv --save run.json -- ./program $how |
		grep -o 'zones/step/calls",[0-9]*'
	record run.json 'r["incomplete"]' '[n["code"] for n in r["notes"] if n["code"] not in ("busy-neighbours", "steal")]'
	rm run.json
done
# Its blocking calls are intercepted by the preloaded copy, and passed to the copy inside.
deepclock trace --format csv -- ./program _exit | grep -o 'zones/wait: sleep/calls",1'
ls
