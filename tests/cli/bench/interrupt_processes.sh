# Ctrl-C stops the worker process, which returns its results until then.
cat > work <<'END'
#!/bin/sh
echo x >> done
test "$(wc -l < done)" -lt 15 || echo x >> enough
sleep 0.01
END
chmod +x work
interrupt SIGINT enough deepclock bench --details --quiet --processes 3 --runs 10 --warmup 0 --idle 20ms --save run.json -- ./work > text
echo $?
record run.json 'r["incomplete"]' 'note("interrupted") is not None' '"interrupted" in f("method", "stop")' '1 <= len(r["series"])'
test -s text && echo reported
