# heavy
# A program ends with its last thread, as without deepclock: the recorder thread does not keep it alive.
zone-program last || exit
for how in exits alone outlived status strict filter; do
	{ timeout 20 ./program $how > alone.txt; } 2>/dev/null # without the shell's message on a signal
	status=$?
	[ $how != outlived ] || status= # which thread's it is depends on the kernel
	for waits in "" --no-waits; do
		rm -f run.json
		timeout 20 deepclock trace $waits --format csv --save run.json -- ./program $how > csv 2> err
		echo "$how $waits" $(record run.json 'f("trace", "file") is not None' 'r["incomplete"]' && grep -o "zones/step/calls.*" csv)
		! grep -q 'exit handlers' alone.txt || grep 'exit handlers' csv
		[ "${status:-0}" = 0 ] || grep "exit status $status" err
	done
	{ DEEPCLOCK_TRACE=by_itself.pftrace timeout 20 ./program $how > out.txt; } 2>/dev/null
	[ $? = "${status:-$?}" ] && cmp out.txt alone.txt && deepclock report by_itself.pftrace --format csv | grep -o "zones/step/calls.*"
done
