# heavy
# The same where no descriptor is free, so that /proc does not say which threads there are. The main
# thread's exit status is not known then.
zone-program last || exit
for how in exits status; do
	rm -f run.json
	timeout 20 deepclock trace -o t.pftrace --format csv --save run.json -- ./program $how full > csv 2> err || cat err
	echo "$how" $(record run.json 'f("trace", "file") is not None' 'r["incomplete"]' && grep -o "zones/step/calls.*" csv)
	grep "^exit handlers" csv || true
done
