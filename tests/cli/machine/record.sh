# heavy
# Guarantees for scripts: tags, units, and a reason for each absent value.
export XDG_CACHE_HOME="$PWD/cache"
deepclock machine --quick --quiet --format json > run.json
echo $?
python3 - <<'END'
import json
r = json.load(open("run.json"))
metrics = {m["tag"]: m for m in r["metrics"]}
for kind in ["peak/" + t for t in "fp64 fp32 fp16 bf16 int8".split()] + [
        f"bandwidth/{level}_{how}" for level in "l1 l2 l3 dram".split()
        for how in "read write write_nt copy triad".split()] + ["blas/sgemm", "blas/dgemm"]:
    for threads in "1", "all":
        m = metrics[f"{kind}/{threads}"]
        unit = "B/s" if kind.startswith("bandwidth") else "FLOP/s"
        if ("value" in m) == bool(m.get("absent")) or m["unit"] != unit:
            print("strange:", m)
for peak in [m for t, m in metrics.items() if t.startswith("peak/") and t.count("/") == 2 and "value" in m]:
    share = metrics[peak["tag"].replace("peak/", "peak_share/")]
    if not (0 < share["value"] < 10 if "value" in share else share["absent"]):
        print("strange:", share)
for m in r["metrics"]:
    if "value" in m and not m["how"]:
        print("no how:", m)
    if m["tag"].startswith("peak/") and "value" in m and not m["lo"] == m["value"] <= m["hi"]:
        print("strange interval:", m)
END
ls cache 2>/dev/null
record run.json 'f("machine", "threads") <= f("machine", "cores")' 'f("plan", "quick")' 'f("subject", "kind")'
deepclock machine --quick --quiet --format csv | grep -c '"peak/fp32/1"'
deepclock report --details run.json | grep '^Peaks\|^Bandwidth\|^Overheads'
