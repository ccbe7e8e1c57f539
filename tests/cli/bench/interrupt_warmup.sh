# Ctrl-C in the warm-up: the warm-up runs are reported as such, with one message.
cat > work <<'END'
#!/bin/sh
echo x >> done
test "$(wc -l < done)" -lt 8 || echo x >> enough
sleep 0.02
END
chmod +x work
interrupt SIGINT enough deepclock bench --warmup 100000 --save run.json -- ./work > text
echo $?
test "$(wc -l < text)" -le 15 && echo short
grep -c 'median of [0-9]* warm-up runs' text
grep -c -i interrupted text
record run.json 'r["incomplete"]' 'm("runs/count")["value"]' '"warm-up runs" in m("latency/median")["how"]' \
	'"lo" in m("latency/median")' 'note("interrupted")["severity"]'
