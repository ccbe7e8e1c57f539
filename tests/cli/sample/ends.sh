# deepclock ends with the exit status of the program; its samples until then are reported.
sampled-program || exit
by=$(sampled-by) || { echo "$by"; exit 77; }
for one in $by; do
	deepclock sample --source $one --save run.json -- ./program fail 100 >/dev/null 2>err.txt
	echo "fails: $?"
	grep -o "'./program' ended with.*" err.txt
	record run.json 'r["incomplete"]'
	deepclock sample --source $one --save run.json -- ./program crash 300 >/dev/null 2>err.txt
	echo "crashes: $?"
	record run.json 'r["incomplete"]' 'note("program-killed")["text"]' 't("functions")["rows"][0][0]'
	# Its own end before --time is over.
	for what in fail crash; do
		deepclock sample --source $one --time 100s -- ./program $what 100 >/dev/null 2>&1
		echo "$what before the time: $?"
	done
done | sort -u
