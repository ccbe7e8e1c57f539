# A full directory for temporary files is reported, and the part that the trace contains is shown.
zone-program zone || exit
mkdir room
unshare -m sh -c 'mount -t tmpfs -o size=4k none room' 2> /dev/null || { echo "file systems cannot be mounted here"; exit 77; }
unshare -m sh -c '
	mount -t tmpfs -o size=16k none room
	head -c 1M /dev/zero > room/rest 2> text
	TMPDIR=$PWD/room deepclock trace --no-waits -o t.pftrace --format csv -- ./program > csv
	echo "exit $?"
	ls room
'
grep -o "zones/step/calls.*" csv
# A program started by exec() for which LD_PRELOAD cannot work.
deepclock trace -o u.pftrace -- env -i sleep 0.01
echo "exit $?"
# On a full disk no empty file of a child remains.
unshare -m sh -c '
	mount -t tmpfs -o size=16k none room
	head -c 1M /dev/zero > room/rest 2> text
	deepclock trace --no-waits -o room/t.pftrace --format csv -- ./program forks > csv 2> said
	ls room
'
