# Ctrl-C: the results until then are shown and saved, with the exit status of an interruption.
(until [ "$(grep -c . journal 2> /dev/null || true)" -ge 4 ] 2> /dev/null; do sleep 0.02; done; echo x > enough) &
interrupt SIGINT enough deepclock throughput --details --quiet --engine null --engine-option sleep_ns=20000000 \
	--point-time 400ms --resume journal --save run.json zoo:simplenet > text
echo $?
record run.json 'r["incomplete"]' 'note("interrupted")["severity"]' 'f("method", "trials") >= 3' \
	'len(s("batch/by_batch")["values"]) == f("method", "trials")' 'm("throughput/best")["value"] > 0'
grep -q '^Throughput by batch' text && echo table
# The short result shows the size that the warning calls the highest.
deepclock report run.json 2> /dev/null > text
grep -q "^ *$(record run.json 'm("throughput/best_batch")["value"]' | sed 's/.*: //') " text && echo shown
wait
