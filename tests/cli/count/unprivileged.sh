# An ordinary user: counters are there, by the kernel's or by what it tells at the end.
unprivileged true || exit
unprivileged deepclock count --no-history --no-functions -q --save run.json -- sh -c 'ls >/dev/null; true' >out
record run.json 'all(m("counter/" + name)["value"] is not None for name in ("task-clock", "page-faults", "context-switches"))' \
	'm("counter/page-faults")["value"] > 50' 'm("counter/task-clock")["value"] > 0'
