# The limits of a device: every metric has a value with its method, or a reason; units; relations between them.
. opencl || exit 77
export XDG_CACHE_HOME="$PWD/cache"
deepclock machine --device opencl --quick --quiet --save run.json > text 2> err
echo $?
sed -n 2,3p text | tr -s '\n ' ' ' | sed 's/[0-9.]* [GTM]\(FLOP\|B\)/N \1/g'
echo
python3 - <<'END'
import json
r = json.load(open("run.json"))
metrics = {m["tag"]: m for m in r["metrics"]}
units = {"peak": "FLOP/s", "memory": "B/s", "transfer": "B/s", "kernel": "ns", "mark": "ns"}
for tag in ["peak/fp64", "peak/fp32", "peak/fp16", "peak/bf16", "peak/int8",
            "peak/fp16_matrix", "peak/bf16_matrix", "peak/int8_matrix", "memory/read", "memory/copy", "memory/triad",
            "transfer/to_device", "transfer/to_device_pinned", "transfer/from_device", "transfer/from_device_pinned",
            "kernel/enqueue", "kernel/complete", "mark/record", "mark/tick"]:
    m = metrics["device/" + tag]
    if m["unit"] != units[tag.split("/")[0]] or ("value" in m) == bool(m.get("absent")):
        print("strange:", m)
    elif "value" in m and not (m["value"] > 0 and m["how"] and m.get("lo", 0) <= m["value"] <= m.get("hi", 1e99)):
        print("strange value:", m)
for tag, m in metrics.items():
    if "absent" in m:
        print(tag, "absent:", m["absent"])
END
record run.json 'f("subject", "kind")' 'f("device", "device")' 'f("device", "software")' 'f("device", "units") >= 1' \
	'f("device", "array") >= 2 * f("device", "cache") or note("memory-in-cache") is not None' 'f("device", "driver") != ""' 'f("method", "kernels")' \
	'f("method", "peak_int8")' 'f("method", "wait") in ("spin", "block")' 'f("plan", "device")' \
	'm("device/kernel/enqueue")["value"] < m("device/kernel/complete")["value"]' \
	'len(s("device/peak/fp32")["values"])'
ls cache 2>/dev/null # never cached
deepclock report --details run.json | grep -c '^  FP32 peak'
deepclock report --format csv run.json | grep -c '"device/memory/read"'
