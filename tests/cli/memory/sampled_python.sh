# Sampled allocations of Python: its functions and lines, what it held when the script ended, and a child.
heap-program || exit
command -v python3 >/dev/null || { echo "there is no python3"; exit 77; }
cat >sizes.py <<'END'
import os

KEPT = []

def rows(n):
    return bytearray(n)

def keep():
    for _ in range(20_000):
        KEPT.append(rows(1000))

def passing():
    for _ in range(20_000):
        rows(2000)

keep()
passing()
if os.fork() == 0:
    keep()
    os._exit(0)
os.wait()
END
deepclock memory --quiet --sample 4KiB --save run.json -- python3 sizes.py >out || cat out
# 20 and 40 MB each: at least 4,800 samples.
record run.json 'sum(row[0] == "rows() at sizes.py:6" for row in t("memory/lines")["rows"])' \
	'abs(sum(row[6]["value"] for row in t("memory/lines")["rows"] if row[0] == "rows() at sizes.py:6") / 80e6 - 1) < 0.15' \
	'abs(sum(row[2]["value"] for row in t("memory/lines")["rows"] if row[0] == "rows() at sizes.py:6") / 40e6 - 1) < 0.15' \
	'[c["key"] for c in t("memory/lines")["columns"]][1:8]' 'm("memory/heap_held")["lo"] < m("memory/heap_held")["value"]' \
	'f("result", "answer").split(" by ")[1].split(";")[0]' 'f("memory", "stacks_failed")'
deepclock report run.json --tree allocations --weight bytes_estimated | grep -E -o -m3 '^ *(keep|passing|rows) ' | sed 's/ *$//' |
	awk '{ match($0, /^ */); if (NR == 1) at = RLENGTH + 1; print substr($0, at) }' # below what the C library has
