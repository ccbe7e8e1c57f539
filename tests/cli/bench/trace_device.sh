# A device that reports how long operators took, and not when: the timeline has the runs, and a note states it.
command -v "${CC:-cc}" > /dev/null || { echo "no C compiler"; exit 77; }
"${CC:-cc}" -shared -fPIC -I "$TESTS/../../include" -o device.so "$TESTS/../plugins/device.c" || exit 1
deepclock bench --quiet --engine ./device.so --engine-option ns=1000000 --runs 5 --warmup 1 --trace run.json --save record.json \
	zoo:simplenet > /dev/null
echo $?
record record.json 'f("trace", "runs")' 'note("trace-no-operators")["text"]'
grep -c Gemm run.json || true
