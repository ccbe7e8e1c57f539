# Python in forked children that end within milliseconds, before their memory can be read: their functions have names.
zone-program zone || exit # not under a sanitizer
built=$(dirname "$(readlink -f "$(command -v deepclock)")")
[ -e "$built/libdeepclock_sampler.so" ] || { echo "libdeepclock_sampler.so was not built"; exit 77; }
cat >forks.py <<'PY'
import os
import time


def inner():
    end = time.process_time() + 0.01
    total = 0
    while time.process_time() < end:
        for i in range(200):
            total += i * i
    return total


for _ in range(40):
    child = os.fork()
    if child == 0:
        inner()
        os._exit(0)
    os.waitpid(child, 0)
PY
deepclock sample --no-history -q --source in-process --save run.json -- python3 forks.py >out 2>&1 ||
	{ grep -qE 'perf_event|library' out && { cat out; exit 77; }; cat out; exit 1; }
record run.json 'sum(row[1] for row in t("functions")["rows"] if row[0] == "[unknown Python]") <= f("sample", "samples") / 20' \
	'sum(row[1] for row in t("functions")["rows"] if row[0] == "inner") > f("sample", "samples") / 2'
