# Texts of untrusted records: none controls the terminal or is interpreted as SQL, CSV or JSON.
history-lines 9 'subject=a; DROP TABLE records; --' | deepclock history import -
python3 - <<'PY' > lines
import json, subprocess
for line in subprocess.run(["history-lines", "9", "prefix=x", "subject=S", "commits=1", "first=20"],
                           capture_output=True, text=True).stdout.splitlines():
    r = json.loads(line)
    for f in r["facts"]:
        if f["key"] in ("name", "cpu"):
            f["value"] = '\x1b[31mred\n"quoted", %s\x07'
    r["history"]["commit"] = '\x1b]0;title"\n'
    print(json.dumps(r))
PY
deepclock history import lines
deepclock history list --limit 2
deepclock history list --subject 'a; DROP TABLE records; --' --limit 1
deepclock history list --subject "x' OR 1=1 --" --quiet
deepclock history trend --limit 2
deepclock history list --limit 1 --format json | python3 -c 'import json, sys; print(repr(json.load(sys.stdin)["tables"][0]["rows"][0][3]))'
deepclock history list --limit 1 --format csv | python3 -c 'import csv, sys; print(repr(list(csv.DictReader(sys.stdin))[0]["subject"]))'
deepclock history export --limit 1 | python3 -c 'import json, sys; print(len([json.loads(x) for x in sys.stdin]))'
deepclock history import lines --commit "a'b"
deepclock history check | sed 's/,.*,/,/'
