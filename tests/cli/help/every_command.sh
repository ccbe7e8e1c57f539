# The --help of each command has an example and all of the common options.
for command in $(deepclock completion bash | sed -n "s/^\t\t\([a-z]*\)).*words=.*/\1/p"); do
	deepclock $command --help > help || echo "$command --help: exit $?"
	deepclock help $command | cmp - help || echo "help $command differs from $command --help"
	for text in Examples: "  deepclock $command" --quiet --verbose --colour --help; do
		grep -q -e "$text" help || echo "$command --help lacks '$text'"
	done
	echo $command
done
