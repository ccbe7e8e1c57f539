# --transfers include: the cost of a request with its inputs and outputs in host memory. On the CPU there
# are no transfers. Operators that the provider does not support are named.
. webgpu || exit 77
deepclock bench --quiet --max-time 500ms --max-warmup 500ms --device webgpu --transfers include --save include.json \
	--engine-option ep.webgpuexecutionprovider.forceCpuNodeNames=/relu/Relu zoo:simplenet > text
echo $?
record include.json 'f("plan", "transfers")' 'f("method", "transfers")' 'm("device/enqueue")["absent"]' \
	'm("latency/median")["value"] > 0' 'f("engine", "operators_on_cpu")' \
	'note("engine-warning")' \
	'"operators that run on the processor, 1 of 3: Relu" in note("device-fallback")["text"]'
deepclock bench --quiet --runs 20 --warmup 5 --transfers include --save cpu.json zoo:simplenet > text
record cpu.json 'f("method", "transfers")' 'm("device/enqueue") is None' 'm("latency/median")["value"] > 0'
