# An engine that does not return: one signal ends every command, and no process or file remains.
command -v "${CC:-cc}" > /dev/null || { echo "no C compiler here"; exit 77; }
"${CC:-cc}" -shared -fPIC -I"$TESTS/../../include" -o p.so "$TESTS/../plugins/leaving.c" -lpthread
try() { # NAME SIGNAL COMMAND...: all of them at a time, since each takes the whole of the deadline
	mkdir "$1"
	(cd "$1"; name=$1 signal=$2; shift 2
	TMPDIR=$PWD "$@" --quiet --engine plugin:../p.so zoo:simplenet > ../$name.out 2> ../$name.err &
	until [ -s hung ]; do sleep 0.05; done
	rm hung
	kill -s $signal $!
	wait $!
	echo "$?" >> ../$name.out
	ls -A >> ../$name.out) &
}
export LEAVE='hang in open'
try open TERM deepclock bench --save run.json
export LEAVE='hang in first run'
try first TERM deepclock bench --save run.json
export LEAVE=hang
try run TERM deepclock bench -o out.txt
try hangup HUP deepclock compare --html out.html zoo:simplenet
try load TERM deepclock load
try processes TERM deepclock bench --processes 2 -o out.txt
try throughput TERM deepclock throughput
export LEAVE='hang later'
try later TERM deepclock bench --warmup 3 --runs 1000 --save run.json -o out.txt
export LEAVE='hang in second process'
try worker TERM deepclock bench --warmup 3 --runs 1000 --processes 3 --save run.json -o out.txt
wait
for c in open first run hangup load processes throughput later worker; do
	echo "$c:"
	cat $c.out
	sed 's/for [0-9]* s,/for N s,/' $c.err
done
pgrep -f "$PWD/p.so" || echo nobody is left
# The results of the processes before it are reported.
record worker/run.json 'r["incomplete"]' 'note("interrupted")["text"]' 'm("runs/count")["value"]' 'm("latency/median")["value"] > 0'
