# The limits of a GPU by its CUDA driver, of a double: its kernels take a given time on its own clock.
LD_LIBRARY_PATH=$(dirname "$(command -v deepclock)")/tests/doubles
export LD_LIBRARY_PATH
CUDA_DOUBLE_MEMORY=4000000000 deepclock machine --device cuda:1 --quick --quiet --save run.json > text 2> err
echo $?
sed -n 2p text
record run.json 'f("device", "name")' 'f("method", "kernels")' 'f("device", "units")' \
	'round(m("device/memory/copy")["value"] / m("device/memory/read")["value"], 2)' \
	'round(m("device/memory/triad")["value"] / m("device/memory/read")["value"], 2)' \
	'round(m("device/peak/fp16")["value"] / m("device/peak/fp32")["value"], 2)' \
	'[round(m("device/peak/" + t)["value"] / m("device/peak/fp32")["value"], 2) for t in ("bf16", "int8", "fp16_matrix", "bf16_matrix", "int8_matrix")]' \
	'm("device/kernel/complete")["value"] > 0'
# Memory for less than the results of the kernels.
deepclock machine --device cuda --quick --quiet
echo $?
