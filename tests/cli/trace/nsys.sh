# Options of nsys, and its range of CUDA's profiler, without a GPU.
zone-program cuda_profiler || exit
deepclock trace --capture-range=cudaProfilerApi --quiet --save run.json -- ./program | head -1
record run.json '[row[:2] for row in t("zones")["rows"] if not row[0].startswith("wait")]' 'f("trace", "captures")'
for words in '-t cuda,nvtx,osrt' '--trace=nvtx' '--stats=true' '-s cpu' '--sample=cpu' '-c cudaProfilerApi' \
	'--capture-range-end=stop' '--force-overwrite=true' '--cuda-memory-usage=true'; do
	deepclock trace $words -- true 2>&1 | head -1
done
[ ! -e cpu ]
