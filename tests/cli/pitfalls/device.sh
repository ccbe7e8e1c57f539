# Runs that a plug-in enqueues: the clock that stops too early, waits, transfers and allocation, by known amounts.
command -v "${CC:-cc}" > /dev/null || { echo "no C compiler"; exit 77; }
"${CC:-cc}" -shared -fPIC -I "$TESTS/../../include" -o flawed.so "$TESTS/../plugins/flawed.c" -lm || exit 1
keys=no-sync,untested-sync,sync-each-run,transfers-inside,allocation-inside,cpu-fallback
pit() {
	deepclock pitfalls --details --quiet --time 100ms --only "$1" --save run.json plugin:flawed.so \
		--engine-option ns=1000000 --engine-option copy_ns=2000000 --engine-option enqueue_ns=200000 \
		--engine-option context_ns=4000000 --engine-option device="$2" > text 2> notes
	echo $?
}
factor() {
	echo "m(\"pitfalls/$1\")[\"value\"]"
}
# A run takes 3.2 ms with its copy; four in a row take 6.8 to 9 ms.
pit $keys 1
record run.json 'f("device", "barrier")' "$(factor no-sync) < 0.3" "$(factor untested-sync) < 0.3" \
	"$(factor sync-each-run) > 1.2" "$(factor transfers-inside) > 1.2" "$(factor allocation-inside) > 1.4" \
	'm("pitfalls/cpu-fallback")["absent"]' 'note("not-waiting") is None'
grep -c "until synchronize() returns" text
# The same without a device: nothing is enqueued, and a new context still takes its time.
pit $keys 0
record run.json '[m("pitfalls/" + k).get("absent") for k in ("untested-sync", "sync-each-run", "transfers-inside")]' \
	'"absent" not in m("pitfalls/no-sync")' "$(factor allocation-inside) > 1.4"
# A first run longer than the time of a row does not end the rows of fresh starts.
deepclock pitfalls --quiet --time 20ms --only first-call-in-10 --save run.json plugin:flawed.so \
	--engine-option ns=100000 --engine-option first_ns=400000000 > text 2> notes
echo $?
record run.json "$(factor first-call-in-10) > 5"
