# Options of other tools, and of deepclock before 0.1: the message gives the equivalent option.
for a in \
	"bench --iterations=100 x" \
	"bench --num-threads 4 x" \
	"bench --warmUp=200 x" \
	"bench --export-json f x" \
	"bench --shapes=input:1x3 x" \
	"bench --onnx=m.onnx" \
	"bench -m m.onnx" \
	"bench -m 5 x" \
	"bench -niter 100 x" \
	"bench -nstreams 2 x" \
	"bench -hint latency x" \
	"bench -t 10 x" \
	"bench -d CPU x" \
	"bench -runs 10 x" \
	"bench --num_runs 3 x" \
	"bench --max_time 3 x" \
	"bench --concurrency 3 x" \
	"bench --fp16 x" \
	"bench --useCudaGraph x" \
	"bench --exportTimes=x x" \
	"bench --exportProfile=x x" \
	"bench -N ls" \
	"bench --show-output ls" \
	"bench -i ls" \
	"bench -u ms ls" \
	"bench --margin 3% x" \
	"bench --vary a=b x" \
	"cost --runs 3 x" \
	"compare --runs 3 x y" \
	"load -r 3 x" \
	"report --runs 3 x" \
	"bench --prec 3 x" \
	"bench --command ls" \
	"bench -Z x" \
	"bench --avgRuns=3 x" \
	"machine --onnx=m" \
	"bench --percentile=99 x" \
	"bench --provider cuda x" \
	"zoo --model x" \
	"compare --together a.json b.json" \
	"compare --between 5% a.json b.json" \
	"history trend --least 1%" \
	"bench --trust-batch x" \
	"sample --by inside -- true"; do
	echo "$a -> $(deepclock $a 2>&1 | sed -n 1p)"
done
