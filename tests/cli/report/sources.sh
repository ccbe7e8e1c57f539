# A record names source files, and may be untrusted: a page has lines only of regular files below the
# working directory, or below the directory that the user names, and prints which one.
mkdir -p in/.hidden out && cd in || exit
echo "own line" > own.c; echo "hidden line" > .hidden/key; echo "other line" > ../out/other.c
ln -s ../out/other.c link.c; ln -s /etc/passwd passwd; mkfifo pipe
python3 - <<'END' || exit
import json
names = ["own.c", "link.c", "passwd", "pipe", ".hidden/key", "../out/other.c", "/etc/passwd", "/proc/kmsg", "/proc/self/environ", "/dev/zero"]
frames = [{"name": n, "file": n, "line": 1, "module": "m"} for n in names]
json.dump({"schema": 1, "deepclock": "0.1.0", "id": "0" * 32, "began": "2026-01-01T00:00:00Z", "command": "x", "incomplete": False,
    "facts": [], "series": [], "metrics": [], "ops": [], "tables": [], "notes": [], "trees": [{"name": "samples", "title": "t",
    "columns": [{"key": "self", "title": "self", "unit": "ns"}], "frames": frames, "nodes": [[i - 1, i, 1000] for i in range(len(names))]}]},
    open("calls.json", "w"))
END
look() { grep -o -e "own line" -e "hidden line" -e "other line" -e "root:x" page.html | sort -u; }
timeout 20 deepclock report calls.json -o page.html; look
timeout 20 deepclock report calls.json --sources -o page.html 2>&1; look
timeout 20 deepclock report calls.json --source-root ../out -o page.html 2>&1; look
cd / && timeout 20 deepclock report "$OLDPWD/calls.json" --sources -o "$OLDPWD/page.html" 2>&1; cd "$OLDPWD"; look
