# A program that is measured in a fresh process on a terminal can read from it and receives its Ctrl-C.
cat > asks <<'END'
#!/bin/sh
stty -echo < /dev/tty && echo x >> asked
END
chmod +x asks
on-terminal 80 deepclock bench --quiet --processes 2 --runs 2 --warmup 0 --save run.json --format csv -- ./asks > text
echo "$? $(wc -l < asked)"
cat > work <<'END'
#!/bin/sh
echo x >> done
test "$(wc -l < done)" -lt 3 || echo x >> enough
exec sleep 0.05
END
chmod +x work
on-terminal --type-when enough 80 deepclock bench --processes 2 --runs 100000 --warmup 0 --save run.json --format csv -- ./work > text
echo $?
record run.json 'r["incomplete"]'
