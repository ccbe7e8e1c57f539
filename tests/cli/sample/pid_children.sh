# A running program whose work is done by a grandchild process.
sampled-program || exit
./program family >ready.txt &
pid=$!
while ! [ -s ready.txt ]; do sleep 0.1; done
deepclock sample --quiet --pid $pid --time 1s --save run.json >/dev/null 2>why.txt
code=$?
kill $pid
{ wait $pid; } 2>/dev/null
[ $code = 0 ] || { grep -q perf_event why.txt && { echo "the kernel permits no perf_event"; exit 77; }; cat why.txt; exit 1; }
sampled-shares run.json
record run.json 'f("sample", "processes") >= 3' 'f("sample", "user")' 'f("sample", "samples") > 50'
