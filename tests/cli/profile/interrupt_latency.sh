# Ctrl-C while the latency is measured: an incomplete record, and the exit status of an interruption.
timeout --preserve-status -s INT 1 deepclock profile --details --quiet --engine null \
	--engine-option ns=20000 --engine-option operators=a:5000 --no-roofs --runs 100000000 --warmup 0 \
	--save run.json zoo:simplenet > text
echo $?
record run.json 'r["incomplete"]' 'note("interrupted")["severity"]' 'len(s("latency")["values"]) > 0' 'r["ops"]'
grep -q median text && echo reported
