# The profiler reports times of launching operators on the device. They are never shown as times of operators.
. webgpu || exit 77
deepclock profile --quiet --max-time 500ms --max-warmup 500ms --device webgpu --profile-runs 10 --no-memory \
	--save run.json zoo:simplenet > text
echo $?
record run.json 'm("latency/median")["value"] > 0' 'r.get("ops", [])' \
	'"how long the host takes to launch operators on the device" in note("profile-failed")["text"]'
grep -c Gemm text
