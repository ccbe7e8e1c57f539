# A read-only history can be read.
mkdir data
history-lines 3 | deepclock history import - --db data/history.db
try() {
	unprivileged deepclock history list --db data/history.db --format csv | wc -l
	history-lines 1 prefix=x > line
	unprivileged deepclock history import line --db data/history.db
	unprivileged deepclock bench --runs 3 --warmup 0 --db data/history.db -- true > text
	echo "exit $?"
}
unprivileged true || exit 77
history-lines 1 prefix=y first=3 > next.json
chmod 444 data/history.db; try
chmod 555 data; try
unprivileged deepclock compare --quiet --history next.json --db data/history.db --margin 50% > text
echo "compared: $?"
chmod 000 data; try
chmod 755 data
unprivileged deepclock history check --db data/history.db | sed 's/,.*,/,/'
# An existing directory without write permission.
mkdir ro
chmod 555 ro
unprivileged deepclock history import line --db ro/history.db
unprivileged deepclock bench --runs 3 --warmup 0 --quiet --db ro/history.db -- true
unprivileged env DEEPCLOCK_DB=ro/history.db deepclock bench --runs 3 --warmup 0 --save run.json -- true > text
chmod 555 .
unprivileged deepclock bench --runs 3 --warmup 0 --db new/history.db -- true 2>&1 > /dev/null
chmod 755 .
