# Two functions that do 70 and 30 parts of the work, in one thread, in several threads, and in processes.
sampled-program || exit
by=$(sampled-by) || { echo "$by"; exit 77; }
for one in $by; do
	for what in 'shares 300' 'threads 150' 'children 200'; do
		set -- $what
		deepclock sample --quiet --source $one --save $one-$1.json -- ./program $what >/dev/null || echo "$one $what: $?"
		sampled-shares $one-$1.json | sed "s/^/$1: /" >>$one.txt
	done
	cat $one.txt
done | sort -u
for one in $by; do
	record $one-shares.json 'f("sample", "processes")' 'f("sample", "lost")'
	record $one-children.json 'f("sample", "processes")'
	record $one-threads.json 'f("sample", "threads")' 'f("sample", "stacks_failed") <= 0.05 * f("sample", "samples")'
done | sort -u
