# Ctrl-C: the results until then are reported, for an open loop, one with more arrivals than can be counted, a closed loop and a search.
for how in '--rate 500' '--rate 1e8' '--streams 2' "--find-peak --slo median<=1s --time 20s"; do
	interrupt SIGINT --shown '(server|multi|/s) +[0-9,]+ run' deepclock load --details --engine null --engine-option sleep_ns=1000000 --warmup 2 $how \
		$(case $how in *find*) ;; *) echo --time 60s ;; esac) --save run.json zoo:simplenet > text
	echo $?
	record run.json 'r["incomplete"]' '[n["code"] for n in r["notes"] if "max-time" in n.get("remedy", "")]' 'note("interrupted")["severity"]' 'm("runs/count")["value"] > 0'
done
