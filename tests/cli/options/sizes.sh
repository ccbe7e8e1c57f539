# All commands accept the same notation of sizes, and refuse a size where it has no meaning.
need-ort || exit 77
deepclock zoo simplenet --symbolic -o net.onnx
run() {
	deepclock "$@" -q net.onnx > printed
	echo "$? $*"
}
for size in '--dim batch=1k' '--dim batch=1_000' '--shape 1kx784' '--shape input=1000x784' '--batch 1k'; do
	run cost $size
	run inspect $size
	run bench --runs 1 -w 0 $size
done
run profile --runs 3 -w 0 --profile-runs 2 --no-roofs --dim batch=1k
run load --requests 3 -w 0 --dim batch=1k
run accuracy --dim batch=1k net.onnx
for size in '--dim batch=0' '--shape 0x784' '--batch 0' '--dim batch=-1' '--dim batch=1.5' '--shape 1.5x784' '--shape x784'; do
	run cost $size
	run inspect $size
	run bench --runs 1 -w 0 $size
done
