# Ctrl-C on a terminal reaches deepclock and the measured program, which dies of it.
cat > work <<'END'
#!/bin/sh
echo x >> done
test "$(wc -l < done)" -lt 3 || echo x >> enough
exec sleep 0.05
END
chmod +x work
on-terminal --type-when enough 80 deepclock bench --runs 100000 --warmup 0 --save run.json --format csv -- ./work > text
echo $?
record run.json 'r["incomplete"]' '1 <= len(s("latency")["values"]) < 100000'
grep -q latency/median text && echo reported
