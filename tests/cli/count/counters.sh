# Counters by perf's names; an unavailable counter gives the reason; all processes that a program starts.
names() {
	record run.json 'sorted(x["tag"] for x in r["metrics"])'
}
deepclock count --no-history --no-functions -q --save run.json -- true >out
names
record run.json 'all(x.get("absent") or x["value"] is not None for x in r["metrics"])' \
	'all(m("counter/" + name)["value"] is not None for name in ("task-clock", "page-faults", "minor-faults", "major-faults", "context-switches", "user_time", "system_time", "duration_time"))' \
	'm("counter/page-faults")["value"] >= m("counter/minor-faults")["value"] > 0' 'note("count-none")' 'f("result", "exit_status")'
deepclock count --no-history --no-functions -q --save run.json -e faults,cs,r01c0 -e L1-dcache-load-misses:u,cycles -- sh -c 'true; true; ls >/dev/null' >out
names
# A child's page faults are added to its parent's.
deepclock count --no-history --no-functions -q --save child.json -e faults -- sh -c 'sh -c "ls >/dev/null"; sh -c "ls > /dev/null"; true' >out
record run.json 'load("child.json")["metrics"][0]["value"] > m("counter/page-faults")["value"]'
deepclock count --events list | grep -E '^ *(page-faults|duration_time) '
deepclock count --events list --format csv | grep -c ','  | awk '{ print ($1 > 40) }'
deepclock count --no-history -- sh -c 'exit 7' >out
echo "exit $?"
deepclock count --no-history -- sh -c 'kill -9 $$' >out
echo "exit $?"
