# An engine whose run() returns before the results are available, against the rules: detected from its outputs.
command -v "${CC:-cc}" > /dev/null || { echo "no C compiler"; exit 77; }
"${CC:-cc}" -shared -fPIC -I "$TESTS/../../include" -o flawed.so "$TESTS/../plugins/flawed.c" -lm || exit 1
for async in 1 0; do
	deepclock pitfalls --details --quiet --time 100ms --only no-sync --save run.json plugin:flawed.so \
		--engine-option ns=3000000 --engine-option async=$async > text 2> notes
	echo $?
	record run.json 'm("pitfalls/no-sync")["value"] < 0.5' 'note("not-waiting") is not None'
	grep -c "no-sync.* harm$" text
done
# On a device the copies of outputs would be counted; a program has nothing to wait for.
deepclock pitfalls --details --quiet --time 20ms --only no-sync --save run.json -- true > text
record run.json 'm("pitfalls/no-sync")["absent"]'
