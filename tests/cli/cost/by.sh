# The tables of --by, their order and their length.
for by in type node module all; do
	echo "- $by"
	deepclock cost --details zoo:simplenet --by $by | grep '^By\|^Operators'
done
for sort in auto macs flops params bytes name graph; do
	echo "- $sort"
	deepclock cost zoo:simplenet --by node --sort $sort --format csv | grep -o '/[a-z0-9]*/[A-Z][a-z]*' | uniq
done
echo - top
deepclock cost --details zoo:resnet18 --by node --top 3 --sort graph | sed -n '/^Operators/,/^$/p'
deepclock cost zoo:resnet18 --by node --top 3 --format csv | wc -l
deepclock cost --details zoo:simplenet --by nodes
echo $?
