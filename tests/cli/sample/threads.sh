# --threads: the outermost frames are threads.
sampled-program || exit
by=$(sampled-by) || { echo "$by"; exit 77; }
for one in $by; do
	deepclock sample --quiet --threads --source $one --save run.json -- ./program threads >/dev/null
	sampled-shares run.json
done | sort -u
