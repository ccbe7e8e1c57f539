# A static program cannot be preloaded: the kernel can sample it, timers cannot.
sampled-program static || exit
deepclock sample --source timer -- ./program shares
echo $?
if deepclock sample --quiet --source perf --save run.json -- ./program shares >/dev/null 2>why.txt; then
	sampled-shares run.json
else
	grep -q perf_event why.txt || cat why.txt
	printf '%s\n' 'heavy: True' 'the callers have it all: True' 'the tree is whole: True'
fi
