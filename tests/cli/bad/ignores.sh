# A program that ignores signals: two of them, or 5 s after the first, kill it and its children, and the
# results until then are written.
cat > deaf <<'END'
#!/bin/sh
trap '' INT TERM HUP
sleep 60 &
echo $! > child
echo $$ > ready
while :; do sleep 0.05; done
END
chmod +x deaf
cat > try <<'END'
import os, pty, signal, subprocess, sys, time

how, *command = sys.argv[1:]

def gone(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True

def await_(what):
    until = time.monotonic() + 60
    while not what() and time.monotonic() < until:
        time.sleep(0.02)
    return what()

def number(name):
    return int(open(name).read() or 0)

signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background job ignores it
if how == "terminal":  # all of them see Ctrl-C
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(command[0], command)
else:
    pid = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid
await_(lambda: os.path.exists("ready") and os.path.getsize("ready"))
time.sleep(1)
begun = time.monotonic()
if how == "terminal":
    os.write(terminal, b"\x03")
    while True:
        try:
            if not os.read(terminal, 4096):
                break
        except OSError:
            break
elif how == "twice":
    os.kill(pid, signal.SIGINT)
    time.sleep(0.5)
    os.kill(pid, signal.SIGINT)
else:
    os.kill(pid, getattr(signal, how))
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
took = time.monotonic() - begun
print("status", status, "in time" if took < 30 else f"after {took:.0f} s",
      "program", "gone" if await_(lambda: gone(number("ready"))) else "there")
if how == "SIGKILL":  # the kernel kills the program, but not its children
    os.kill(number("child"), signal.SIGKILL)
else:
    print("its child", "gone" if await_(lambda: gone(number("child"))) else "there")
END
run() { # NAME HOW COMMAND...
	mkdir "$1"
	(cd "$1"; name=$1; shift
	TMPDIR=$PWD python3 ../try "$@" -- ../deaf > ../$name.out 2>&1
	case $1 in SIGKILL) ;; *)
		[ ! -s run.json ] || record run.json 'r["incomplete"]' >> ../$name.out
		ls -d deepclock-* >> ../$name.out 2> /dev/null ;;
	esac) &
}
names=
for c in trace 'sample --source perf' count memory; do
	case $c in
	sample*) sampled-by | grep -q perf || continue ;;
	trace) ! ldd "$(command -v deepclock)" | grep -q 'lib[at]san' || continue ;; # nothing is put in front of the program
	esac
	name=${c%% *}
	names="$names $name"
	run "$name-once" SIGTERM deepclock $c --save run.json
	run "$name-twice" twice deepclock $c --save run.json
	run "$name-terminal" terminal deepclock $c --save run.json
	run "$name-killed" SIGKILL deepclock $c
done
run bench-killed SIGKILL deepclock bench
run overhead-killed SIGKILL deepclock overhead
wait
for name in $names; do
	for how in once twice terminal killed; do
		sed "s/^/$how: /" "$name-$how.out"
	done
done | sort | uniq -c | sed "s/^ *$(set -- $names; echo $#) /all: /"
cat bench-killed.out overhead-killed.out
