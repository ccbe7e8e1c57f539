# Ctrl-C while the operators are measured: the latency is reported, and nothing is left behind.
mkdir tmp
(while ! ls tmp/* > /dev/null 2>&1; do sleep 0.05; done; sleep 1; echo x > begun) &
TMPDIR=$PWD/tmp interrupt SIGINT begun deepclock profile --quiet --engine null --engine-option sleep_ns=2000000 \
	--engine-option operators=/fc1/Gemm:2000000 --runs 5 --warmup 1 --profile-runs 100000 --no-roofs \
	--save run.json zoo:simplenet > text
echo $?
wait
ls tmp
record run.json 'r["incomplete"]' 'note("interrupted")["severity"]' 'len(r["ops"])' \
	'm("latency/median")["value"] > 0'
grep -q median text && echo reported
