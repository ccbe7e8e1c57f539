# heavy
# Operators with times on a device are compared with the limits of that device: which of the two binds each. The times are a
# double's, the limits those of OpenCL on the processor.
. opencl || exit 77
command -v "${CC:-cc}" > /dev/null || { echo "no C compiler"; exit 77; }
"${CC:-cc}" -shared -fPIC -I "$TESTS/../../include" -o device.so "$TESTS/../plugins/device.c" || exit 1
profiled() {
	ns=$1
	shift
	deepclock profile --details --quiet --engine ./device.so --engine-option ns="$ns" --no-memory --warmup 1 --runs 4 \
		--profile-runs 4 --save run.json "$@" zoo:simplenet > text
	echo $?
}
profiled 30000000 --device opencl
record run.json 'f("profile", "roofs_of")' 'f("roofs", "peak_fp32") > 0' 'f("roofs", "bandwidth_dram") > 0' \
	'm("profile/attainable")["value"] > 0' '[(o["name"], o["bound"], o["roof"] > o["rate"]) for o in r["ops"] if o.get("flops", 0) > 1000]'
# Matrix units and caches are not measured: what is faster has no roof, and keeps its rate.
profiled 600 --device opencl
record run.json '[(o["name"], o.get("bound"), o["roof"], o["rate"] > 0) for o in r["ops"] if o.get("flops", 0) > 100000]' \
	'note("above-roof") is None'
# Without limits the reason is in each row.
profiled 30000000 --device cuda:7
record run.json 'm("profile/attainable")["absent"].split(":")[0]' 'r["ops"][0]["roof"]["absent"].split(":")[0]'
profiled 30000000 --device opencl --no-roofs
record run.json 'f("profile", "roofs_of")' 'm("profile/attainable")["absent"]'
