# The gauges of a GPU around a measurement, of a double of its libraries: the engine computes nothing on it.
LD_LIBRARY_PATH=$(dirname "$(command -v deepclock)")/tests/doubles
export LD_LIBRARY_PATH
run() {
	deepclock bench --quiet --engine null --engine-option ns=1000000 --warmup 5 --save run.json "$@" zoo:simplenet > text
	echo $?
}
run --device cuda:1 --time 1100ms
record run.json 'f("device", "gauges")' 'abs(m("device/power")["value"] - 250) < 2' 'f("device", "clock_begin")' 'f("device", "clock_min")' \
	'0.7 < m("device/energy_per_item")["value"] / (250 * m("time/measured")["value"] / 1e9 / m("runs/count")["value"]) < 1.3' \
	'f("device", "throttled_by")' 'note("device-throttled")' 'note("device-shared")' \
	'len(s("device_clock")["values"]) == len(s("device_power")["values"]) == f("device", "readings") >= 3'
# The clock falls, and another program uses the GPU.
NVML_DOUBLE_CLOCKS=1980,1980,1980,1500 NVML_DOUBLE_THROTTLE=0x20 NVML_DOUBLE_PIDS=self,4711 run --device cuda --time 1100ms
record run.json 'f("device", "gauges")' 'f("device", "clock_min")' 'f("device", "throttled_by")' 'note("device-throttled") is not None' \
	'note("device-shared")'
# Clocks fall during all of the warm-up: it is not steady, though the runs take the same time.
NVML_DOUBLE_CLOCKS=1980,1900,1800,1700,1600,1500,1400,1300,1200,1100,1000,900,800,700,600,500,400,300,200,100 \
	run --device cuda --warmup auto --max-warmup 2s --runs 20
record run.json '"clock is falling, from" in note("not-steady")["text"]'
# Which GPU a provider uses is not known, and a library is missing.
CUDA_DOUBLE_FAIL=cuInit=803 run --device cuda --runs 20
record run.json 'm("device/power")'
NVML_DOUBLE_FAIL=nvmlInit_v2=9 run --device cuda --runs 20
record run.json 'm("device/power")["absent"]'
NVML_DOUBLE_FAIL=nvmlInit_v2=9 run --device npu --runs 20
record run.json 'm("device/power")'
run --device npu --runs 20
record run.json 'm("device/power")["absent"]'
