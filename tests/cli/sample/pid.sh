# A running program, with its threads; it continues to run.
sampled-program || exit
./program endless >ready.txt &
pid=$!
while ! [ -s ready.txt ]; do sleep 0.1; done
if ! deepclock sample --quiet --pid $pid --time 1s --save run.json >/dev/null 2>why.txt; then
	kill $pid
	grep -q perf_event why.txt && { echo "the kernel permits no perf_event"; exit 77; }
	cat why.txt
	exit 1
fi
sampled-shares run.json
record run.json 'r["incomplete"]' 'f("sample", "source")'
kill -0 $pid && echo "it runs on"
kill $pid
{ wait $pid; } 2>/dev/null
deepclock sample --pid 4194304
echo $?
