# The default: a summary sentence, the types with the most time, at most 15 lines.
deepclock profile --quiet --no-roofs --engine null --engine-option ns=1000 \
	--engine-option operators=/fc1/Gemm:600,/relu/Relu:300,/fc2/Gemm:100 --runs 20 --warmup 1 --group 1 \
	--profile-runs 5 zoo:simplenet > out
sed -n 2p out | sed 's/[0-9.]* %/N %/; s/of [0-9.]* .*/of T/'
grep -c '^  Gemm  ' out
test "$(wc -l < out)" -le 15 && echo short
