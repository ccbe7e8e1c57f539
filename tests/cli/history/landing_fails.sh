# An explicitly named history that is invalid is refused before anything is measured; for the default history it is
# a warning: the measurement and its file are still valid.
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
