# Child processes are merged into the timeline of the first process, or stay separate, with the reason.
zone-program || exit
if ldd "$(command -v deepclock)" | grep -q 'lib[at]san'; then
	echo "a sanitizer's allocator may be locked by another thread when a program forks"
	exit 77
fi
show() {
	record run.json '[t["name"] for t in r["tables"]]' 'sorted(row[2] for t in r["tables"] if t["name"] == "processes" for row in t["rows"])' \
		'[n["code"] for n in r["notes"] if n["code"] not in ("busy-neighbours", "steal")]' 'r["incomplete"]'
	ls | grep '^trace\|^run\.[^j]' | sed 's/[0-9][0-9]*/PID/'
	rm -f -- trace.* run.*
}
deepclock trace --no-waits --save run.json -- ./program forks >out
show
deepclock trace --no-waits --format csv --save run.json -- ./program fork | grep step/calls
show
# Of two programs that a script starts, the first has the file. They are in another directory.
mkdir sub
deepclock trace --no-waits --save run.json -- sh -c 'cd sub; ../program; ../program fork' >out
show
ls sub
# Events from before an exec() are included too, and no range is truncated.
deepclock trace --no-waits --save run.json -- ./program exec >out
show
deepclock trace --no-waits --save run.json -- ./program unmatched >out
record run.json 'f("trace", "unmatched_ends")'
rm -f -- trace.* run.*
deepclock trace --no-waits --children apart --save run.json -- ./program fork >out
show
deepclock trace --no-waits -o run.folded --save run.json -- ./program fork >out
show
deepclock trace --no-waits --last 1MiB --save run.json -- ./program forks >out
show
deepclock trace --no-waits --save run.json -- ./program killed-child >out
echo $?
# What the child left open ends with it, in the file as in the table, and the file states that it was killed.
deepclock report trace.pftrace --save file.json > /dev/null
record file.json 'r["incomplete"]' '[n["code"] for n in r["notes"]]'
python3 - <<'END'
import json
live, file = ([[c.get("value") if isinstance(c, dict) else c for c in row] for row in t["rows"]]
              for p in ("run.json", "file.json") for t in json.load(open(p))["tables"] if t["name"] == "zones")
print("the tables are", "equal" if live == file else f"{live}, {file}", "left open" in [r[0] for r in live])
END
show
deepclock trace --no-waits --save run.json -- ./program leave >out
show
