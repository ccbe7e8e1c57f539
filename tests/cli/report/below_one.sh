# Weights below 1: folded stacks have decimals; formats of whole numbers would lose all of them.
printf 'a;b 0.25\na;c 0.125\n' > weights.folded
deepclock report weights.folded --format folded
for format in callgrind pprof; do
	deepclock report weights.folded --format $format
	echo "exit $?"
done
