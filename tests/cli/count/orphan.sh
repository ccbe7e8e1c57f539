# The answer has the processor time of the counters: also of a process that nobody waits for.
mkfifo pipe
deepclock count --no-history --no-functions -q --save run.json -- \
	sh -c '(sh -c "i=0; while [ \$i -lt 300000 ]; do i=\$((i+1)); done; echo done >pipe" &); cat pipe' >out
if record run.json '"counted by the kernel" in m("counter/task-clock")["how"]' | grep -q False; then
	echo 'no counters of the kernel'
	exit 77
fi
record run.json 'm("counter/task-clock")["value"] > 10 * (m("counter/user_time")["value"] + m("counter/system_time")["value"])'
answer() {
	awk '/"answer"/ { sub(/.*it took .* and /, ""); print $1 * ($2 == "s" ? 1000 : $2 == "µs" ? 0.001 : 1); exit }' run.json
}
clock=$(record run.json 'round(m("counter/task-clock")["value"] / 1e6, 3)' | sed 's/.*: //')
awk -v a="$(answer)" -v b="$clock" 'BEGIN { print (a > 0.98 * b && a < 1.02 * b) ? "equal" : a " against " b }'
