# A column of texts may have a blob, which has no end of a text: it is not read beyond its end.
history-lines 2 | deepclock history import -
python3 - <<'PY'
import os, sqlite3
d = sqlite3.connect(os.path.expanduser("~/.local/share/deepclock/history.db"))
for name in ("id", "subject", "cpu", "commit_id", "machine"):
    d.execute(f"update records set {name} = cast({name} as blob) where seq = (select max(seq) from records)")
d.execute("update metrics set unit = x'6e73' where seq = (select max(seq) from records)")
d.commit()
PY
deepclock history list --limit 1
deepclock history trend --limit 2 > text
deepclock history check
