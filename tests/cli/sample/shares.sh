# Two functions that do 70 and 30 parts of the work, in one thread, several, and processes.
sampled-program || exit
by=$(sampled-by) || { echo "$by"; exit 77; }
for one in $by; do
	for what in shares threads children; do
		deepclock sample --quiet --source $one --save $one-$what.json -- ./program $what >/dev/null || echo "$one $what: $?"
		sampled-shares $one-$what.json | sed "s/^/$what: /" >>$one.txt
	done
	cat $one.txt
done | sort -u
for one in $by; do
	record $one-shares.json 'f("sample", "processes")' 'f("sample", "lost")'
	record $one-children.json 'f("sample", "processes")'
	record $one-threads.json 'f("sample", "threads")' 'f("sample", "stacks_failed") <= 0.05 * f("sample", "samples")'
done | sort -u
