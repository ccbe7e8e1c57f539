# Traces of several processes become one timeline, or are refused before anything is written.
zone-program || exit
DEEPCLOCK_TRACE=a.pftrace ./program >/dev/null
DEEPCLOCK_TRACE=b.pftrace ./program >/dev/null
deepclock report a.pftrace b.pftrace -o all.pftrace
deepclock report all.pftrace --format csv | grep /calls
deepclock report a.pftrace b.pftrace --format folded | grep -c forward
try() {
	deepclock report "$@"
	echo $?
}
try a.pftrace a.pftrace -o no.pftrace
cp a.pftrace copy.pftrace
try a.pftrace copy.pftrace -o no.pftrace 2>&1 | sed 's/process [0-9]*/process N/'
# An event of another producer, which has no clock data.
printf '\n\016@\001P\001Z\010H\003X\005\272\001\001x' > bare.pftrace
try a.pftrace bare.pftrace -o no.pftrace
echo "{}" >run.json
try a.pftrace run.json -o no.pftrace
ls
