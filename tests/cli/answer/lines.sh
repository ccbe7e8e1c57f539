# heavy
# The default output of a command is a short answer: at most 15 lines, first in a pipe, last on a terminal.
export NO_COLOR=1
net="--quiet --engine null --engine-option ns=200000 zoo:simplenet"
short bench deepclock bench $net --runs 30 --warmup 2
short several deepclock bench --quiet --engine null --engine-option ns=200000 --runs 8 zoo:simplenet zoo:two_layer
short program deepclock bench --quiet --runs 5 --warmup 1 -- true
short compare deepclock compare --quiet --engine null --vary engine-option=ns=100000,ns=300000 --rounds 6 zoo:simplenet
short throughput deepclock throughput $net --batch 1,2,4 --rounds 2 --point-time 20ms
printf 'ns=400000,100000\n' > space.txt
short tune deepclock tune $net --space space.txt --trial 10ms --max-time 5s
short load deepclock load $net --rate 200 --time 300ms --warmup 2 --slo 'p90<=50ms'
short generate deepclock generate --quiet --engine null --engine-option ns=100000 --requests 6 --new-tokens 8 \
	--prompt-length 16,32 --batch 1,4 zoo:llama_mini
short pitfalls deepclock pitfalls $net --time 20ms --only one-sample,mean-of-5
short cost deepclock cost --quiet zoo:simplenet
printf '0\n1\n2\n2\n2\n' > y.csv
short accuracy deepclock accuracy --quiet --labels y.csv --predictions y.csv
short profile deepclock profile $net --engine-option operators=/fc1/Gemm:900,/relu/Relu:400 --runs 10 --warmup 1 \
	--profile-runs 5 --no-roofs
deepclock bench $net --runs 30 --warmup 2 --quiet --save run.json > text
short report deepclock report run.json
sed -n 2p text | grep -o median
# Beside other programs the rate and the median of the undisturbed runs follow on further lines.
on-terminal 80 deepclock report run.json | tail -n 2 | grep -m1 -o median | head -n 1
grep -c 'the rest.*: deepclock report run.json --details' text
short view deepclock view run.json --no-browser -o run.html
short machine deepclock machine --quick --quiet
zone-program || exit
short trace deepclock trace -- ./program
short ranks deepclock ranks --quiet -- ./program
# Commands that measure or show records are listed here; a new command must be as short or be listed as an exception.
others='inspect history zoo engines help version completion man'
deepclock help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' > commands
grep -ho '^short [a-z]*' "$TESTS"/answer/*.sh | cut -d' ' -f2 > tried
while read -r name; do
	case " $others " in *" $name "*) continue ;; esac
	grep -qx "$name" tried || echo "$name: nobody looks at its length"
done < commands
