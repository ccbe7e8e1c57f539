# Ctrl-C in the profiled runs: the results until then are reported, and no file remains.
mkdir tmp
calibrating() {
	ls tmp/*/chain.onnx > /dev/null 2>&1
}
(
	until calibrating; do sleep 0.02; done
	while calibrating; do sleep 0.02; done
	sleep 2
	echo x > begun
) &
TMPDIR=$PWD/tmp interrupt SIGINT begun deepclock profile --details --quiet --engine null --engine-option sleep_ns=2000000 \
	--engine-option operators=/fc1/Gemm:2000000 --runs 5 --warmup 1 --profile-runs 100000 --no-roofs \
	--save run.json zoo:simplenet > text
echo $?
wait
ls tmp
record run.json 'r["incomplete"]' 'note("interrupted")["severity"]' 'r["ops"][0]["name"]' \
	'10 <= f("profile", "runs") < 100000' 'm("latency/median")["value"] > 0'
grep -q median text && echo reported
