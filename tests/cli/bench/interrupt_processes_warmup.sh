# Ctrl-C in the warm-up of the second process: it measured nothing, so its runs are in no result.
cat > work <<'END'
#!/bin/sh
echo x >> done
n=$(wc -l < done)
test $n -lt 9 || echo x >> enough
test $n -lt 8 || exec sleep 1
END
chmod +x work
interrupt SIGINT enough deepclock bench --quiet --processes 3 --runs 3 --warmup 4 --save run.json -- ./work > text
echo $?
record run.json 'r["incomplete"]' 'f("method", "processes")' 'f("method", "stop")' 'm("runs/count")["value"]' \
	'note("interrupted")["text"]' '[s["tag"] for s in r["series"] if "latency" in s["tag"]]'
