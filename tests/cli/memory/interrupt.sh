# A signal that only deepclock receives is forwarded; the record is incomplete, but has all results.
heap-program || exit
python3 - <<'END'
import signal, subprocess
started = subprocess.Popen(["deepclock", "memory", "--format", "csv", "--save", "run.json", "--", "./program", "wait"],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
started.stdout.readline()
started.send_signal(signal.SIGINT)
started.stdout.read()
print("exit", started.wait())
END
record run.json 'r["incomplete"]' 'm("memory/heap_leaked")["value"]' '[n["code"] for n in r["notes"]]'
