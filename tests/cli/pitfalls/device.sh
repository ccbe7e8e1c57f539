# heavy
# Runs that a plug-in enqueues: a clock that stops too early, waits, transfers and allocation, by known amounts.
command -v "${CC:-cc}" > /dev/null || { echo "no C compiler"; exit 77; }
"${CC:-cc}" -shared -fPIC -I "$TESTS/../../include" -o flawed.so "$TESTS/../plugins/flawed.c" -lm || exit 1
pit() {
	only=$1 time=${time:-50ms}
	shift
	deepclock pitfalls --details --quiet --time "$time" --only "$only" --save run.json plugin:flawed.so "$@" > text 2> notes
	echo $?
}
factor() {
	echo "m(\"pitfalls/$1\")[\"value\"]"
}
# A run takes 20 ms, and its results are copied in 0.1 ms.
pit no-sync,untested-sync --engine-option device=1 --engine-option ns=20000000 --engine-option copy_ns=100000
record run.json "$(factor no-sync) < 0.5" "$(factor untested-sync) < 0.5" 'note("not-waiting") is None'
# A run takes 1 ms, a copy 5 ms: 6 ms together, and four in a row 9 ms with one copy.
set -- --engine-option ns=1000000 --engine-option copy_ns=5000000 --engine-option context_ns=30000000
time=400ms # several loops of each kind, which wait by computing: a busy machine stretches some
pit sync-each-run,transfers-inside,allocation-inside,cpu-fallback --engine-option device=1 "$@"
time=50ms
record run.json "$(factor sync-each-run) > 1.2" "$(factor transfers-inside) > 1.1" "$(factor allocation-inside) > 1.5" \
	'm("pitfalls/cpu-fallback")["absent"]'
# The same without a device: nothing is enqueued, and a new context still takes its time.
pit untested-sync,sync-each-run,transfers-inside,allocation-inside "$@"
record run.json '[m("pitfalls/" + k).get("absent") for k in ("untested-sync", "sync-each-run", "transfers-inside")]' \
	"$(factor allocation-inside) > 1.5"
