# --threads: the outermost frames are threads.
sampled-program || exit
by=$(sampled-by) || { echo "$by"; exit 77; }
for one in $by; do
	deepclock sample --quiet --threads --source $one --save run.json -- ./program threads >/dev/null
	sampled-shares run.json
done | sort -u
# The profile for pprof has the thread as a label too, when it began, and how long it took.
cat > labels.py <<'END'
import gzip

def fields(b):
    i = 0
    def number():
        nonlocal i
        x = s = 0
        while True:
            c = b[i]; i += 1; x |= (c & 127) << s; s += 7
            if c < 128: return x
    while i < len(b):
        key = number()
        n = number()
        yield key >> 3, n if key & 7 == 0 else b[i:i + n]
        i += 0 if key & 7 == 0 else n

profile = list(fields(gzip.open("out.pb.gz").read()))
text = [x.decode() for key, x in profile if key == 6]
labels = {tuple(text[z] for _, z in fields(y)) for key, x in profile if key == 2 for field, y in fields(x) if field == 3}
print({key for key, _ in labels}, len(labels) > 1, all(" (thread " in name for _, name in labels))
print(dict(profile)[9] > 0, dict(profile)[10] > 0)
END
deepclock report run.json -o out.pb.gz && python3 labels.py
# A thread that has several names is one row, by the last one.
cat >renamed.py <<'END'
import ctypes, time
prctl = ctypes.CDLL(None).prctl
def work():
    end = time.thread_time() + 0.1
    while time.thread_time() < end: pass
prctl(15, b"before"); work()
prctl(15, b"after"); work()
END
for one in $by; do
	deepclock sample --quiet --threads --source $one --save run.json -- python3 renamed.py >/dev/null
	record run.json '[row[0].split()[0] for row in t("functions")["rows"] if "(thread" in row[0]]'
done | sort -u
