# A program with the library in it, of which another copy is put in front of it: one of them records.
zone-program zone_static || exit
for how in '' exec fork; do
	deepclock trace --format csv --save run.json -- ./program $how |
		grep -o 'zones/step/calls",[0-9]*'
	record run.json 'r["incomplete"]' '[n["code"] for n in r["notes"] if n["code"] not in ("busy-neighbours", "steal")]'
	rm run.json
done
# What it waits for is seen by the copy in front, and told to the one inside.
deepclock trace --format csv -- ./program _exit | grep -o 'zones/wait: sleep/calls",1'
ls
