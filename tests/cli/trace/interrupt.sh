# Ctrl-C at a terminal reaches the program too: deepclock waits for its exit, and reports all of it. A
# signal that only deepclock receives is forwarded.
zone-program || exit
python3 - <<'END'
import os, pty, signal, subprocess, time

def ctrl_c():
    # A process group in the foreground of the terminal, as a shell starts it.
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp("deepclock", ["deepclock", "trace", "--no-waits", "--quiet", "--format", "csv", "--save", "run.json",
                                "--", "./program", "interrupt"])
    said, pressed = b"", False
    while True:
        try:
            some = os.read(terminal, 4096)
        except OSError:
            break
        said += some
        if not pressed and b"own output" in said:
            time.sleep(0.5)
            os.write(terminal, b"\x03")
            pressed = True
    print("exit", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), "saved", b"saved" in said)

def term():
    started = subprocess.Popen(["deepclock", "trace", "--no-waits", "--format", "csv", "--save", "run.json", "--",
                                "./program", "interrupt"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    started.stdout.readline()
    time.sleep(1.5) # events after this are not lost
    started.send_signal(signal.SIGTERM)
    print("exit", started.wait(), "saved", b"saved" in started.stdout.read())

for f in (ctrl_c, term):
    f()
    subprocess.run(["record", "run.json", '[row[:2] for t in r["tables"] for row in t["rows"] if row[0] == "step"]',
                    'f("trace", "unfinished_ranges")'])
    os.remove("run.json")
END
