# Ctrl-C in the profiled runs: the results until then are reported, and no file remains.
mkdir tmp
TMPDIR=$PWD/tmp interrupt SIGINT --shown 'profiled runs' --waits 200 deepclock profile --details --engine null --engine-option sleep_ns=2000000 \
	--engine-option operators=/fc1/Gemm:2000000 --runs 5 --warmup 1 --profile-runs 100000 --no-roofs \
	--save run.json zoo:simplenet > text
echo $?
ls tmp
record run.json 'r["incomplete"]' 'note("interrupted")["severity"]' 'r["ops"][0]["name"]' \
	'10 <= f("profile", "runs") < 100000' 'm("latency/median")["value"] > 0'
grep -q median text && echo reported
