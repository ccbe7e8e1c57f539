# An unprivileged user: counters are available, from the kernel or from the resource usage at exit.
unprivileged true || exit
unprivileged deepclock count --no-history --no-functions -q --save run.json -- sh -c 'ls >/dev/null; true' >out
record run.json 'all(m("counter/" + name)["value"] is not None for name in ("task-clock", "page-faults", "context-switches"))' \
	'm("counter/page-faults")["value"] > 50' 'm("counter/task-clock")["value"] > 0'
