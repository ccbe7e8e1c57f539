# Repeated signals, in a run that does not end: the partial file is removed too.
deepclock bench --quiet --runs 3 --warmup 0 --engine null --engine-option ns=60000000000 -o out.json zoo:simplenet &
pid=$!
# After a second of CPU time the run has started.
until [ "$(cut -d ' ' -f 14 "/proc/$pid/stat")" -ge 100 ]; do sleep 0.1; done
ls -A | sed 's/^[.]dck-.*/.dck/'
while kill -s TERM "$pid" 2>/dev/null; do sleep 0.4; done
wait "$pid"
echo $?
ls -A
