# A trace of Perfetto is recognised whatever its name; JSON that begins with an empty line, as a packet does, is not.
zone-program || exit
deepclock trace --no-waits --format csv -o named.pftrace -- ./program >/dev/null
cp named.pftrace trace
deepclock report named.pftrace --format csv | sed 's/^"[^"]*"//' >named
deepclock report trace --format csv | sed 's/^"[^"]*"//' >unnamed
grep -c zones/ named && cmp named unnamed
deepclock report trace --format folded | wc -l
{ echo; saved-record model latency/median 1000000 - -; } >record.json
deepclock report record.json --format csv | grep -c latency/median
# A file that begins with the description of a thread; its process is described last.
python3 - <<'END'
def number(v):
    return (bytes([v & 127 | 128]) + number(v >> 7)) if v > 127 else bytes([v])
def field(n, v):
    v = v.encode() if isinstance(v, str) else v
    return number(n << 3) + number(v) if isinstance(v, int) else number(n << 3 | 2) + number(len(v)) + v
def event(ns, kind, name=b""):
    return field(1, field(8, ns) + field(10, 1) + field(11, field(9, kind) + field(11, 7) + name))
thread = field(1, field(60, field(1, 7) + field(4, field(1, 42) + field(2, 43) + field(5, "worker"))))
process = field(1, field(60, field(1, 8) + field(3, field(1, 42) + field(6, "prog"))))
open("described", "wb").write(thread + event(1000, 1, field(23, "a")) + event(3000, 2) + process)
END
deepclock report described --format chrome
