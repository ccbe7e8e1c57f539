deepclock bench --quiet --processes 2 --runs 5 --engine null zoo:florp
echo $?
# A run of the second process fails: what was measured until then is reported, and why it stopped.
cat > seventh <<'END'
#!/bin/sh
echo x >> runs
[ "$(wc -l < runs)" -lt 7 ]
END
chmod +x seventh
deepclock bench --quiet --processes 2 --runs 5 --warmup 0 --save run.json -- ./seventh > text 2> why
echo $?
record run.json 'r["incomplete"]' 'f("method", "stop")'
