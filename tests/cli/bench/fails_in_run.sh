# The engine fails in run 30: the runs before it are reported and saved, marked as incomplete, with an error status.
deepclock bench --quiet --engine null --engine-option ns=200000 --engine-option fail_at=30 --runs 50 --warmup 5 \
	--save run.json zoo:simplenet > text
echo $?
record run.json 'r["incomplete"]' 'note("engine-failed")["severity"]' 'len(s("latency")["values"]) > 10'
grep -q median text && echo reported
