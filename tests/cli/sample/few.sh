# The remedies of too few samples fit the source that took them: timers do not fire at a higher rate.
sampled-program || exit
by=$(sampled-by) || { echo "$by"; exit 77; }
for one in $by; do
	deepclock sample --no-history -q --source $one --save run.json -- ./program shares 1 >/dev/null 2>&1
	record run.json '"run longer" in note("sample-few")["text"]'
	record run.json "('--rate' in note('sample-few')['text']) == ('$one' == 'perf')" | sed 's/.*: /rate: /'
done | sort -u
