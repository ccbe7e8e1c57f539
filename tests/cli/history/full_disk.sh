# A real file system that is full.
mkdir small
unshare -m sh -c 'mount -t tmpfs -o size=400k none small' 2> /dev/null || { echo "file systems cannot be mounted here"; exit 77; }
unshare -m sh -c '
	mount -t tmpfs -o size=400k none small
	export DEEPCLOCK_DB=small/history.db
	history-lines 3000 | deepclock history import - > counted
	echo "exit $?"
	deepclock history list --limit 0 --quiet --format csv > list
	test "$(($(wc -l < list) - 1))" = "$(sed "s/ .*//" counted)" && echo what was said to be added is there
	head -c 1M /dev/zero > small/rest 2> text
	deepclock bench --quiet --runs 3 --warmup 0 --save run.json -- true > text
	echo "exit $?"
	test -s run.json && echo saved
	cp small/history.db* .
'
deepclock history check --db ./history.db | sed 's/:.*records,.*,/:/'
