# Blocking calls of a program that does not use deepclock, and that receives all of its data.
zone-program waits || exit
deepclock trace --save run.json -- ./program | head -1
record run.json 'f("trace", "unfinished_ranges")' 'f("trace", "unmatched_ends")' 'f("method", "waits_from")'
python3 - run.json <<'END'
import json, sys
table = [t for t in json.load(open(sys.argv[1]))["tables"] if t["name"] == "zones"][0]
names = [c["key"] for c in table["columns"]]
number = lambda x: x.get("value") if isinstance(x, dict) else x
rows = {r[0]: dict(zip(names, map(number, r))) for r in table["rows"]}
for name in ("lock", "condition", "join", "read", "sleep", "child", "semaphore", "barrier", "poll", "accept",
             "receive", "signal", "file lock"):
    row = rows["wait: " + name]
    print(name, "at least 20 ms", row["max"] >= 20e6, "all at least 10 us", row["min"] >= 10e3)
END
deepclock trace --waits 1h --format csv -- ./program | grep -c wait:
deepclock trace --no-waits -- ./program
echo $?
# A wrapper's exec() is followed; a shell and its children behave as without deepclock.
deepclock trace --format csv -- env ./program | grep -c 'zones/wait: sleep/calls'
deepclock trace --waits 1ms --format csv -- bash -c './program; echo "$?"; exit 5' | grep -E '^all|^[0-9]|wait: child/calls'
deepclock trace --waits 1h -- ls no-such-file 2>&1 | grep -v ls:
# system() waits by a call inside libc.
cat > shell.py <<'END'
import os
os.system("sleep 0.05")
END
deepclock trace --children apart --format csv -- python3 shell.py | grep -o 'zones/wait: child/calls",1'
# A program that exits by _exit(), as many shells do, has ended normally. select() without files sleeps.
cat > leave.py <<'END'
import os, select, time
time.sleep(0.05)
select.select([], [], [], 0.05)
os._exit(4)
END
deepclock trace --format csv -- python3 leave.py | grep -o 'zones/wait: sleep/calls",2'
