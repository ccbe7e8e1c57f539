# Ctrl-C in the second round: the sizes have two trials, in one complete round, so none is called the best, and no
# sentence says that each has one.
(until [ "$(grep -c . journal 2> /dev/null || true)" -ge 5 ] 2> /dev/null; do sleep 0.02; done; echo x > enough) &
interrupt SIGINT enough deepclock throughput --quiet --engine null --engine-option sleep_ns=20000000 --batch 1,2 --rounds 3 \
	--point-time 300ms --resume journal --save run.json zoo:simplenet > text
echo $?
record run.json 'max(row[-2] for row in r["tables"][0]["rows"])' \
	'[n["text"] for n in r["notes"] if "single trial" in n["text"]]' \
	'note("throughput-few-trials")["text"].split(", the highest")[0]' 'm("throughput/best")["how"]' \
	'sorted(row[3] for row in r["tables"][0]["rows"])'
wait
