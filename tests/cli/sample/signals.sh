# A program with its own timer and signals is sampled and not disturbed.
sampled-program || exit
by=$(sampled-by) || { echo "$by"; exit 77; }
for one in $by; do
	deepclock sample --quiet --source $one --save run.json -- ./program signals | head -1
	sampled-shares run.json
	deepclock sample --quiet --source $one --save run.json -- ./program alarms | head -1
	sampled-shares run.json
done | sort -u
