# Ctrl-C: the results until then are shown and saved, with the exit status of an interruption.
printf 'sleep_ns=10000000,30000000\n' > space.txt
(until [ "$(grep -c . journal 2> /dev/null || true)" -ge 4 ] 2> /dev/null; do sleep 0.02; done; echo x > enough) &
interrupt SIGINT enough deepclock tune --details --quiet --engine null --engine-option sleep_ns=20000000 \
	--space space.txt --trial 400ms --resume journal --save run.json zoo:simplenet > text
echo $?
record run.json 'r["incomplete"]' 'note("interrupted")["severity"]' 'f("method", "trials") >= 3' \
	'f("tune", "configuration")'
grep -q '^Every configuration' text && echo table
wait
