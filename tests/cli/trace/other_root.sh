# A program that calls chroot() or setuid() leaves a whole trace, with its end.
zone-program || exit
mkdir room
for how in chroot setuid; do
	deepclock trace -q --format csv --save run.json -- ./program $how >csv
	[ $? -eq 0 ] || { echo "this user may not $how"; exit 77; }
	grep step/calls csv
	record run.json 'r["incomplete"]' 'f("result", "exit_status")' 'f("method", "clock") is not None'
done
