# malloc() calls of an unchanged Python program are charged to Python functions and lines, to the byte.
heap-program || exit
command -v python3 >/dev/null || { echo "there is no python3"; exit 77; }
cat >sizes.py <<'END'
import os

def rows(n):
    return bytearray(n)

class Store:
    def fill(self):
        self.kept = [rows(100_000 + i) for i in range(10)]
        rows(5_000_000)

def main():
    store = Store()
    store.fill()
    child = os.fork()
    if child == 0:
        main.kept = rows(300_000)
        os._exit(0)
    os.waitpid(child, 0)

main()
END
deepclock memory --quiet --save run.json -- python3 sizes.py >out || cat out
record run.json '[row[4:7:2] for row in t("memory/lines")["rows"] if "sizes.py:4" in row[0]]' 'f("result", "answer").split(" by ")[1].split(";")[0]' \
	'f("memory", "unseen")' 'f("memory", "stacks_failed")' '0 < f("cost", "resident") < 2**23' \
	'0 < f("cost", "file") < 2**21' '[n["code"] for n in r["notes"]]'
deepclock report run.json --tree allocations --weight bytes | grep -E -m3 '^ *(main|(Store\.)?fill|rows) ' | sed 's/[0-9].*//; s/Store\.//; s/ *$//' |
	awk '{ match($0, /^ */); if (NR == 1) at = RLENGTH + 1; print substr($0, at) }' # below what the C library has
