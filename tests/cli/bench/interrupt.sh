# Ctrl-C: the runs so far are reported and saved, with the exit status of an interruption.
cat > work <<'END'
#!/bin/sh
echo x >> done
test "$(wc -l < done)" -lt 3 || echo x >> enough
sleep 0.02
END
chmod +x work
for signal in SIGINT SIGTERM; do
	rm -f done enough
	interrupt $signal enough deepclock bench --details --quiet --runs 100000 --warmup 0 --save run.json -- ./work > text
	echo $?
	record run.json 'r["incomplete"]' 'note("interrupted")["severity"]' \
		'1 <= len(s("latency")["values"]) < 100000'
	test -s text && echo reported
done
