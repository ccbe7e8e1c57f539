# What is reported is the time until a run's results are there, never that of enqueueing it, whichever of both is the longer.
# The device is a double, whose call returns before its run has ended.
command -v "${CC:-cc}" > /dev/null || { echo "no C compiler"; exit 77; }
"${CC:-cc}" -shared -fPIC -I "$TESTS/../../include" -o device.so "$TESTS/../plugins/device.c" || exit 1
bound() { # NAME, nanoseconds of the host and of the device
	deepclock bench --quiet --max-time 500ms --warmup 5 --engine ./device.so --engine-option enqueue_ns=$2 --engine-option ns=$3 \
		--processes 1 --save run.json zoo:simplenet > text
	echo "$1: $?"
	record run.json 'f("device", "barrier")' "min(s('latency')['values']) >= $2 + $3" "min(s('enqueue')['values']) >= $2"
	grep -c '^  median' text
}
bound 'the device' 65000 5000000
bound 'the host' 3000000 2000000
bound 'both' 2000000 2000000
bound 'nearly the host' 2000000 80000
