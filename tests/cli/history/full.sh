# A file-size limit of some kilobytes, like a full disk: one message, and no data is lost.
# The limit also raises SIGXFSZ, which would end the program.
history-lines 20 | deepclock history import - > out
deepclock history export > before
(
	trap '' XFSZ
	ulimit -f 200
	history-lines 3000 prefix=x first=100 | deepclock history import - > counted
	echo "exit $?"
)
deepclock history check | sed 's/:.*records,.*,/:/'
deepclock history export > after
n=$(sed 's/ .*//' counted)
test "$(wc -l < after)" = "$((20 + n))" && echo what was said to be added is there
head -20 after | cmp - before && echo nothing is lost
(
	trap '' XFSZ
	ulimit -f 0
	deepclock history check --db new/history.db
	history-lines 1 | deepclock history import - --db new/history.db
)
