# Several runs of a program in a sample: CPU times are per run, --group is why, and runs too few for a sample are none.
group() {
	deepclock bench --quiet --no-history --group 5 --runs $1 --warmup 0 --save run.json -- sh -c 'i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done' > text
	echo $?
	record run.json 'm("runs/count")["value"]' 'f("method", "samples")' 'len(s("latency")["values"])'
}
group 23
group 20
record run.json 'm("cpu/time")["value"] > 0' 'note("grouped")["text"]' 'm("cpu/user")["absent"]'
deepclock bench --quiet --no-history --group 2 --runs 8 --warmup 0 --save run.json -- python3 -c 'from time import thread_time as t
while t() < 0.15: pass' > text
record run.json 'abs(m("cpu/time")["value"] / (m("cpu/user")["value"] + m("cpu/system")["value"]) - 1) < 1e-9'
# All runs of a sample count, not only the last: here every second one uses nearly nothing.
cat > odd <<'END'
#!/bin/sh
echo x >> runs
[ $(($(wc -l < runs) % 2)) = 0 ] || exec python3 -c 'from time import thread_time as t
x = b"a" * 100000000
while t() < 0.15: pass'
END
chmod +x odd
deepclock bench --quiet --no-history --group 2 --runs 5 --warmup 0 --save run.json -- ./odd > text
record run.json 'm("cpu/time")["value"] > 0.075e9' 'm("memory/peak_rss")["value"] > 1e8'
# Fewer runs than a group: they are one group of their number.
deepclock bench --quiet --no-history --group 7 --runs 3 --warmup 0 --save run.json -- true > text
echo $?
record run.json 'f("method", "group")' 'm("runs/count")["value"]' 'm("latency/median")["how"]'
