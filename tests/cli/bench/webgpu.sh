# A GPU's run continues after the call that starts it: the reported time ends with the run, not with the call.
# On a busy machine the test of the barriers may not resolve what is left of such short work.
. webgpu || exit 77
deepclock bench --quiet --max-time 1s --max-warmup 1s --device webgpu --save run.json zoo:simplenet > text
echo $?
record run.json 'f("engine", "provider")' 'f("engine", "device").endswith("a driver in software")' \
	'f("engine", "operators_on_cpu")' 'f("device", "barrier")' \
	'm("latency/median")["value"] > 5 * least("run.json", "enqueue")' \
	'm("time/first_run")["value"] > 5 * least("run.json", "enqueue")' \
	'm("device/enqueue").get("lo", 0) <= m("device/enqueue")["value"] <= m("device/enqueue").get("hi", 1e99)' \
	'all(m("transfer/" + x).get("lo", 1) > 0 for x in ("to_device", "from_device"))' \
	'abs(m("transfer/to_device_rate")["value"] * m("transfer/to_device")["value"] / 1e9 - 784 * 4) < 1' \
	'abs(m("transfer/from_device_rate")["value"] * m("transfer/from_device")["value"] / 1e9 - 40) < 1' \
	'len(s("enqueue")["values"]) >= 1' 'f("method", "transfers")' \
	'0 < m("time/barriers")["value"] < 60e9' \
	'(note("barrier-returns") or note("barrier-unresolved")) is not None' \
	'"absent" in m("device/time") or m("device/time")["value"] > least("run.json", "enqueue")'
grep -oE '(enqueue|first run|from device|to device) ' text | sort
