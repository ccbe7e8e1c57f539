# Short options equal the long options, in every usual notation; the same in all commands.
get() {
	record run.json 'm("runs/count")["value"]' 'm("runs/warmup")["value"]' \
		'r["command"]' | tr '\n' ' '
	echo
}
deepclock bench -q -r 3 -w 2 -b 4 --engine null -f json zoo:simplenet > run.json && get
deepclock bench -qr3 -w2 -b4 --engine null -fjson zoo:simplenet > run.json && get
deepclock bench -q -r=3 -w=2 -b=4 --engine null -f=json -s=saved.json --no-history zoo:simplenet > run.json && get
cmp run.json saved.json && echo same
deepclock bench --engine null -vr3 -w 0 zoo:simplenet > text && echo flags together
deepclock cost -b3 -f json zoo:simplenet > cost.json && record cost.json 'r["ops"][0]["outputs"][0]["shape"]'
deepclock bench -j1 --engine null zoo:simplenet
# A letter whose option a command lacks; an unknown letter; an unknown one in a bundle; a missing value.
for words in 'machine -b 8' 'report -j 2 x' 'bench -Z x' 'bench -qZ x' 'bench -r' 'bench -r -q x' \
	'bench -qr' 'bench --save -q x' 'engines -r 3'; do
	deepclock $words
	echo "$?"
done
# '-' alone and negative numbers are values.
deepclock report - -f csv < saved.json | sed -n 1p
deepclock bench -r -5 zoo:simplenet
echo $?
# The version and the help, in any position and without required arguments; American spelling of colour.
deepclock -V
deepclock bench -V
deepclock report --version
deepclock compare -h | sed -n 1p
deepclock -h | sed -n 1p
deepclock zoo --color=never simplenet | sed -n 1p
# The help, the man page and the completions list the letters.
deepclock bench -h | grep -e '^  -[a-zA-Z],' | cut -c1-22
mkdir pages
deepclock man pages
grep -c '^.fB.-[a-zA-Z].fR, ' pages/deepclock-bench.1
deepclock completion bash | grep -F 'bench:--format | bench:-f)'
deepclock completion zsh | grep -F "'(-b --batch)'{-b+,--batch=}'[items" | sed -n 1p | cut -c1-40
deepclock completion fish | grep -F 'from bench' | grep -F -e '-l runs -s r' | cut -c1-90
