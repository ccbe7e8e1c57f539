# heavy
# The same without a free descriptor, so that /proc cannot be read to list the threads. The main
# thread's exit status is unknown then.
zone-program last || exit
for how in exits status; do
	rm -f run.json
	timeout 20 deepclock trace -o t.pftrace --format csv --save run.json -- ./program $how full > csv 2> err || cat err
	echo "$how" $(record run.json 'f("trace", "file") is not None' 'r["incomplete"]' && grep -o "zones/step/calls.*" csv)
	grep "^exit handlers" csv || true
done
