# A history that is named and cannot be one is refused before anything is measured; of the usual one it is
# a warning: the measurement and its file are as good.
echo 'no database' > bad.db
bench() { deepclock bench --runs 3 --warmup 0 --save run.json "$@" -- true > text; echo "exit $?"; }
bench --db bad.db
bench --db bad.db/history.db
bench --db . --quiet
test -e run.json && echo saved
export DEEPCLOCK_DB=bad.db
bench
test -s run.json && echo saved
cat bad.db
DEEPCLOCK_DB=bad.db/history.db bench
DEEPCLOCK_DB=. bench --quiet
unset DEEPCLOCK_DB
env -u HOME deepclock bench --runs 3 --warmup 0 --save run.json -- true > text
echo "exit $?"
