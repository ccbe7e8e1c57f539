# A writer locks the file for a while: another process waits for the given time, and no longer.
cat > hold <<'END'
#!/usr/bin/env python3
import sqlite3, sys, time
db = sqlite3.connect("h.db", isolation_level=None)
db.execute("BEGIN IMMEDIATE")
open("held", "w").close()
sys.stdin.read()
END
chmod +x hold
history-lines 1 | deepclock history import - --db h.db
history-lines 1 prefix=b > line
mkfifo go
./hold < go &
exec 9> go
until [ -e held ]; do sleep 0.02; done
deepclock history import line --db h.db --wait 100ms
echo "impatient $?"
(sleep 0.5; exec 9>&-) &
exec 9>&-
deepclock history import line --db h.db
echo "patient $?"
wait
# A reader is not waited for: what it still reads stays in the log of the file.
cat > read <<'END'
#!/usr/bin/env python3
import sqlite3, subprocess
db = sqlite3.connect("h.db", isolation_level=None)
db.execute("BEGIN")
print(db.execute("SELECT count(*) FROM records").fetchone()[0])
subprocess.run(["deepclock", "history", "prune", "--keep", "1", "--db", "h.db", "--wait", "1h"], stdout=subprocess.DEVNULL, check=True, timeout=1000)
print(db.execute("SELECT count(*) FROM records").fetchone()[0])
db.execute("ROLLBACK")
print(db.execute("SELECT count(*) FROM records").fetchone()[0])
END
python3 read
