# SIGTERM ends sampling and the program; --time does the same, but is no interruption.
# On a loaded machine there are few samples, so either of the functions may have most of them.
sampled-program || exit
by=$(sampled-by) || { echo "$by"; exit 77; }
for one in $by; do
	python3 - $one <<'END'
import subprocess, sys, time
command = ["deepclock", "sample", "--source", sys.argv[1], "--format", "csv", "--save", "run.json", "--", "./program", "endless"]
started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
started.stdout.readline()
time.sleep(1)
started.terminate()
started.stdout.read()
print("exit", started.wait())
END
	record run.json 'r["incomplete"]' 'note("interrupted") is not None' 't("functions")["rows"][0][0] in ("heavy", "light")'
	for pid in $(pgrep -f "^./program endless"); do # of this case: other suites may run beside this one
		[ "$(readlink "/proc/$pid/cwd")" != "$PWD" ] || echo "the program is still there"
	done
	deepclock sample --source $one --time 500ms --format csv --save run.json -- ./program endless >/dev/null 2>&1
	echo "time: $?"
	record run.json 'r["incomplete"]' 't("functions")["rows"][0][0] in ("heavy", "light")'
done | sort -u
# A program that SIGTERM does not end.
deepclock sample --quiet --time 300ms --save run.json -- sh -c 'trap "" TERM; sleep 1' >/dev/null 2>&1
record run.json 'note("sample-overran") is not None'
# A program that ends with a status at the SIGTERM after --time did not fail.
deepclock sample --quiet --time 300ms -- sh -c 'trap "exit 3" TERM; while :; do sleep 0.1; done' >/dev/null 2>err
echo "$?"
grep -c 'exit status' err || true
