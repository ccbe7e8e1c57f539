# Profiles of other programs: speedscope's format, folded stacks, gprof2dot's JSON.
cat > make.py <<'END'
import gzip, json
schema = "https://www.speedscope.app/file-format-schema.json"
frames = [{"name": "main", "file": "a.py", "line": 3}, {"name": "work", "file": "a.py", "line": 9},
          {"name": "work", "file": "a.py", "line": 11}, {"name": "idle", "col": None}]
# In py-spy's order: profiles first, weights in seconds, one profile for each thread; one sample without a stack.
threads = {"$schema": schema, "profiles": [
    {"type": "sampled", "name": "Thread 1", "unit": "seconds", "startValue": 0.0, "endValue": 0.05,
     "samples": [[0, 1], [0, 2], [0], [], [0, 1]], "weights": [0.01, 0.01, 0.01, 0.01, 0.01]},
    {"type": "sampled", "name": "Thread 2", "unit": "seconds", "startValue": 0.0, "endValue": 0.02,
     "weights": [0.01, 0.01], "samples": [[3], [0, 1]]}],
    "shared": {"frames": frames}, "activeProfileIndex": None, "exporter": "py-spy@0.4.3", "name": "py-spy profile"}
json.dump(threads, open("threads.json", "w"))
gzip.open("threads.json.gz", "wt").write(json.dumps(threads))
# main 0 to 10 ms; work inside it from 2 to 5 and from 6 to 9, and a recursive work from 7 to 8.
at = [("O", 0, 0), ("O", 2, 1), ("C", 5, 1), ("O", 6, 1), ("O", 7, 2), ("C", 8, 2), ("C", 9, 1), ("C", 10, 0)]
events = [{"type": t, "at": a, "frame": f} for t, a, f in at]
def evented(events, unit="milliseconds", **more):
    return {"$schema": schema, "shared": {"frames": frames}, **more, "profiles": [
        {"type": "evented", "name": "t", "unit": unit, "startValue": 0, "endValue": 10, "events": events}]}
json.dump(evented(events), open("evented.json", "w"))
def sampled(samples, weights, unit="none"):
    return {"$schema": schema, "shared": {"frames": frames}, "profiles": [
        {"type": "sampled", "name": "t", "unit": unit, "startValue": 0, "endValue": 10, "samples": samples,
         "weights": weights}]}
json.dump(sampled([[0], [0, 1], [0]], [1, 2, 4]), open("none.json", "w"))
json.dump(sampled([[0], [0, 1]], [100, 4096], "bytes"), open("bytes.json", "w"))
both = sampled([[0], [0, 1]], [100, 4096], "bytes")
both["profiles"] += sampled([[0], [1]], [1, 2])["profiles"]
json.dump(both, open("units.json", "w"))
open("raw.folded", "w").write("<module> (nn.py:1);main (nn.py:5);work (nn.py:9) 7\n\n 4\n<module> (nn.py:1);main (nn.py:6) 2\n"
                              "<module> (nn.py:1);main (nn.py:5);work (nn.py:10);C::f(int) 1.5\r\n;;odd name 0.5")
json.dump({"version": 0, "costs": [{"description": "Memory", "unit": "bytes"}],
           "events": [{"callchain": [1, 0], "cost": [300]}, {"callchain": [0], "cost": [100]}, {"callchain": [1, 0], "cost": [1]}],
           "functions": [{"name": "main", "module": "a.py"}, {"name": "grow", "module": "b.py"}]}, open("m.json", "w"))
# Refused files, each with its own message.
bad = {
    "frame": sampled([[9]], [1]), "fraction": sampled([[0.5]], [1]), "fewer": sampled([[0], [1]], [1]),
    "negative": sampled([[0]], [-1]), "text": sampled([[0]], ["x"]), "list": sampled([0], [1]), "huge": sampled([[0]], [1e300]),
    "unit": sampled([[0]], [1], "fortnights"), "back": evented(events[1:2] + events[:1]),
    "crossed": evented([events[0], events[1], dict(events[7], at=6)]), "open": evented(events[:3]),
    "strange": evented([{"type": "X", "at": 0, "frame": 0}]), "nothing": {"$schema": schema, "shared": {"frames": []}},
    "both": {"shared": {"frames": frames}, "profiles": [{"samples": [], "weights": [], "events": []}]},
    "g_frame": {"costs": [{"unit": "s"}], "events": [{"callchain": [0], "cost": [1]}], "functions": []},
    "g_costs": {"costs": [{"unit": "s"}], "events": [{"callchain": [], "cost": [1, 2]}], "functions": []},
}
for name, data in bad.items():
    json.dump(data, open(f"bad_{name}.json", "w"))
whole = json.dumps(threads)
open("bad_cut.json", "w").write(whole[:300])
open("bad_line", "w").write("a;b 1\nc d\n")
open("bad_two", "w").write("a;b 1 2\na;c 3 4\n")
open("bad_capture", "wb").write(b"\x04\x22\x4d\x18\x40\x40\xc0\x38\x41\0\0\0\xf9\x05memray\0\x0d\0\0")
open("bad_csv", "w").write("allocator,num_allocations,size,tid,thread_name,stack_trace\n")
open("bad_first", "w").write("broken\na;b 1\n")
open("bad_callgrind", "w").write("# callgrind format\nversion: 1\n")
open("bad_pprof", "wb").write(gzip.compress(bytes([10, 4, 8, 1, 16, 2, 18, 0])))
open("bad_script", "w").write("# head\nprog 12 100.000: 1000 cycles:u:\n\t 401136 burn+0x10 (/tmp/prog)\n")
open("bad_perf", "wb").write(b"PERFILE2" + bytes(100))
END
python3 make.py
deepclock report threads.json
deepclock report threads.json --by path
deepclock report threads.json.gz | tail -n +2 >a.txt; deepclock report threads.json | tail -n +2 | sed s/threads.json/threads.json.gz/ | cmp - a.txt
deepclock report evented.json --by path
deepclock report none.json
deepclock report bytes.json --by function
deepclock report units.json --by function
deepclock report raw.folded --by path
deepclock report m.json --by function
deepclock report threads.json --diff evented.json --by function | tail -n +3 | head -4
deepclock view threads.json raw.folded --no-browser -o page.html && grep -c "<html" page.html
# Standard input is read as a file is.
for f in threads.json threads.json.gz raw.folded m.json; do
	deepclock report $f --by function | tail -n +2 >a.txt
	cat $f | deepclock report - --by function | tail -n +2 | cmp - a.txt
done
cat raw.folded | deepclock report - -f folded | head -n 1
# callgrind_annotate refuses empty names.
python3 -c 'import json; json.dump({"shared": {"frames": [{"name": "", "file": ""}]}, "profiles": [{"type": "sampled", "name": "t", "unit": "none",
    "samples": [[0]], "weights": [1]}]}, open("unnamed.json", "w"))'
deepclock report unnamed.json -f callgrind | grep -E '^(fl|fn)='
for f in bad_*; do deepclock report $f; echo $?; done
