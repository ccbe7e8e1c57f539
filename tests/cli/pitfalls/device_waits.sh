# heavy
# A documented barrier that waits: all sessions end with it. In fresh starts no barrier is tested, and the honest runs beside
# them end with the certain one, too; a copy that takes eight times as long as a run would show otherwise.
# On a busy machine the test of the barriers may prefer the copy, and then, too, the documented one is not a mistake.
command -v "${CC:-cc}" > /dev/null || { echo "no C compiler"; exit 77; }
"${CC:-cc}" -shared -fPIC -I "$TESTS/../../include" -o flawed.so "$TESTS/../plugins/flawed.c" -lm || exit 1
deepclock pitfalls --quiet --time 200ms --only untested-sync,first-call-in-10 --save run.json plugin:flawed.so \
	--engine-option ns=1000000 --engine-option copy_ns=8000000 --engine-option device=2 > text 2> notes
echo $?
record run.json 'm("pitfalls/resolution")["value"] < 6' '0.2 < m("pitfalls/first-call-in-10")["value"] < 5' \
	'm("pitfalls/untested-sync")["value"] > 0.4'
