# Killed in the middle: the same command continues after the last finished trial.
cat > killed <<'END'
#!/usr/bin/env python3
import os, signal, subprocess, sys, time
p = subprocess.Popen(sys.argv[1:], start_new_session=True)
deadline = time.monotonic() + 60
while p.poll() is None and time.monotonic() < deadline:
    if os.path.exists("journal") and open("journal", "rb").read().count(b"\n") >= 4:
        os.killpg(p.pid, signal.SIGKILL)
        break
    time.sleep(0.01)
print("killed" if p.wait() == -9 else "ended")
END
chmod +x killed
search() {
	"$@" deepclock throughput --quiet --engine null --engine-option sleep_ns=3000000 --batch 1,2,4,8 \
		--point-time 60ms --rounds 2 --resume journal --save run.json zoo:simplenet > text
	echo $?
}
search ./killed
sed -n '$p' text
lines=$(wc -l < journal)
printf '{"schema": 1, "deepcl' >> journal # a partial line, like that of a writer killed in the middle
search
record run.json "f('method', 'trials_resumed') >= 3 and f('method', 'trials_resumed') == $lines - 1" \
	'm("throughput/best_batch")["value"]' 'f("engine", "name")' \
	'f("method", "trials") > f("method", "trials_resumed")'
# Once more: no trial remains.
search
record run.json 'f("method", "trials") == f("method", "trials_resumed")' 'm("throughput/best_batch")["value"]' \
	'f("engine", "name")'
# The journal of one search is refused by another.
deepclock throughput --quiet --engine null --resume journal zoo:simplenet
echo $?
deepclock throughput --quiet --engine null --engine-option sleep_ns=3000000 --batch 1,2,4,16 \
	--point-time 60ms --rounds 2 --resume journal zoo:simplenet
echo $?
echo text > other
deepclock throughput --quiet --engine null --resume other zoo:simplenet
echo $?
cat other
deepclock throughput --quiet --engine null --resume no/such/folder zoo:simplenet
echo $?
