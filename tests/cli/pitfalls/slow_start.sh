# A first run longer than the time of a row ends neither the row nor the others.
command -v "${CC:-cc}" > /dev/null || { echo "no C compiler"; exit 77; }
"${CC:-cc}" -shared -fPIC -I "$TESTS/../../include" -o flawed.so "$TESTS/../plugins/flawed.c" -lm || exit 1
deepclock pitfalls --quiet --time 20ms --only first-call-in-10,a-then-b --save run.json plugin:flawed.so \
	--engine-option ns=100000 --engine-option first_ns=400000000 > text 2> notes
echo $?
record run.json 'r["incomplete"]' 'm("pitfalls/first-call-in-10")["value"] > 5' 'm("pitfalls/a-then-b")["value"] > 5'
