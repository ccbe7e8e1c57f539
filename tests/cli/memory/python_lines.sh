# For Python, the table of lines names the user's innermost line: allocations of libraries are charged to it.
# Memory that a script holds until its end is reported before the interpreter frees it.
heap-program || exit
command -v python3 >/dev/null || { echo "there is no python3"; exit 77; }
mkdir -p env/site-packages installed/pack-1.0.dist-info installed/pack/deeper own
cat >env/site-packages/library.py <<'END'
def rows(n):
    return bytearray(n)
END
touch installed/pack/__init__.py installed/pack/deeper/__init__.py own/__init__.py
echo 'def rows(n): return bytearray(n)' | tee installed/pack/deeper/part.py >own/part.py
cat >script.py <<'END'
import library, pack.deeper.part, own.part
KEPT = []

def keep(n):
    KEPT.append(library.rows(n))

def both():
    KEPT.append(pack.deeper.part.rows(3_000_000))
    KEPT.append(own.part.rows(2_000_000))

keep(4_000_000)
both()
library.rows(20_000_000)
END
PYTHONPATH=$PWD/env/site-packages:$PWD/installed:$PWD deepclock memory --save run.json -- python3 script.py >out
sed -n 1p out | sed 's/.*python3 /python3 /'
record run.json '[[row[0], row[2] // 10**6] for row in t("memory/lines")["rows"] if row[1] > 1e6 and ".py" in row[0]]' \
	'f("result", "answer").split(" by ")[1].split(";")[0]' 'f("result", "answer").split(" by ")[-1]' \
	'9e6 < m("memory/heap_held")["value"] < 15e6' 'm("memory/heap_leaked")["value"] < 4e6' \
	'[c["key"] for c in t("memory/lines")["columns"][:6]]' '"held" in [w["key"] for w in r["trees"][0]["columns"]]'
# If the interpreter does not finalize, nothing is freed, and this column is absent.
deepclock memory --quiet --save run.json -- python3 -c 'import os; k = bytearray(4_000_000); os._exit(0)' >/dev/null
record run.json 'm("memory/heap_held")' 'm("memory/heap_leaked")["value"] > 4e6'
