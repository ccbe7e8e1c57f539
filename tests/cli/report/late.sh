# A trace of Perfetto with an event that comes long after later ones: its time changes, and a note states it, or a
# warning where it is converted. A file that
# fails midway leaves the old output as it was.
cat > make.py <<'END'
import gzip
def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])
def field(k, value):
    return varint(k << 3) + varint(value) if isinstance(value, int) else varint(k << 3 | 2) + varint(len(value)) + value
def packet(*fields):
    return field(1, b"".join(fields))
def mark(ns):
    return packet(field(8, ns), field(10, 1), field(11, field(9, 3) + field(11, 7) + field(23, b"mark")))
track = packet(field(10, 1), field(60, field(1, 7) + field(4, field(1, 4) + field(2, 5) + field(5, b"main"))))
whole = track + b"".join(mark(1000 + i) for i in range(70000))
open("whole.pftrace", "wb").write(whole)
open("late.pftrace", "wb").write(whole + mark(500))
gzip.open("bad.pftrace.gz", "wb", 1).write(whole + b"\x0a" + varint(1 << 30) + bytes(1000000))
END
python3 make.py
for name in whole late; do
	deepclock report $name.pftrace --quiet --save $name.json >out
	record $name.json '[n["text"] for n in r["notes"]]'
done
deepclock report late.pftrace --format chrome -o late.json 2>&1
deepclock report late.pftrace --format chrome --quiet -o late.json 2>&1
echo old >out.json
deepclock report bad.pftrace.gz --format chrome -o out.json
echo $?
cat out.json
