# An engine that calls exit(0), at any point: no command exits as if it had a result.
command -v "${CC:-cc}" > /dev/null || { echo "no C compiler here"; exit 77; }
"${CC:-cc}" -shared -fPIC -I"$TESTS/../../include" -o p.so "$TESTS/../plugins/leaving.c" -lpthread
try() {
	"$@" --quiet --save r.json > out 2> err
	echo "$LEAVE: $? $(wc -c < out) $(ls r.json 2> /dev/null)"
	sort -u err
}
for LEAVE in load open run quick thread close end; do
	export LEAVE
	try deepclock bench plugin:./p.so --runs 5 --warmup 0
done
LEAVE=load
for command in 'accuracy zoo:simplenet' profile; do
	echo "$command:"
	try deepclock $command --engine plugin:./p.so zoo:simplenet
done
LEAVE=run
for command in 'compare zoo:simplenet' 'bench --processes 2' throughput load pitfalls; do
	echo "$command:"
	try deepclock $command --engine plugin:./p.so zoo:simplenet
done
echo 'file:'
deepclock bench plugin:./p.so --quiet --runs 5 --out text.txt
echo "$? $(ls ./*.txt* 2> /dev/null)"
echo 'a library:'
cat > ort.c <<'END'
#include <stdlib.h>
const void *OrtGetApiBase(void);
const void *OrtGetApiBase(void) { exit(0); }
END
"${CC:-cc}" -shared -fPIC -o ort.so ort.c
try deepclock compare --engine-lib ./ort.so zoo:simplenet zoo:simplenet
deepclock engines ort --engine-lib ./ort.so --format csv
echo $?
