# A running program whose main thread has ended: its other threads are sampled, and have names.
sampled-program || exit
./program mainless >ready.txt &
pid=$!
while ! [ -s ready.txt ]; do sleep 0.1; done
sleep 0.2
deepclock sample --quiet --pid $pid --time 1s --save run.json >/dev/null 2>why.txt
code=$?
kill $pid
{ wait $pid; } 2>/dev/null
[ $code = 0 ] || { grep -q perf_event why.txt && { echo "the kernel permits no perf_event"; exit 77; }; cat why.txt; exit 1; }
sampled-shares run.json | grep heavy:
record run.json 'f("sample", "samples") > 50'
