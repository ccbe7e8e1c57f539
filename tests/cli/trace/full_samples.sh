# The disk is full when samples are appended to the trace: the trace stays unchanged.
zone-program spins || exit
built=$(dirname "$(readlink -f "$(command -v deepclock)")")
[ -e "$built/libdeepclock_sampler.so" ] || { echo "libdeepclock_sampler.so was not built"; exit 77; }
mkdir room
unshare -m sh -c 'mount -t tmpfs -o size=4k none room' 2> /dev/null || { echo "file systems cannot be mounted here"; exit 77; }
unshare -m sh -c '
	mount -t tmpfs -o size=4m none room
	deepclock trace --sample --no-waits -o room/t.pftrace --save run.json -- \
		sh -c "./program; stat -c %s room/t.pftrace > before; head -c 9M /dev/zero > room/rest 2> text" > out
	echo "exit $?"
	stat -c %s room/t.pftrace > after
'
cmp before after && echo 'it is as it was'
record run.json 'r["incomplete"]' 'note("trace-not-whole")["severity"]' 'f("sample", "samples") > 10'
