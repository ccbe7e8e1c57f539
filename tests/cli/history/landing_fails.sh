# A history that cannot take it is a warning: the measurement and its file are as good.
echo 'no database' > bad.db
bench() { deepclock bench --runs 3 --warmup 0 --save run.json "$@" -- true > text; echo "exit $?"; }
bench --db bad.db
test -s run.json && echo saved
cat bad.db
rm run.json
bench --db bad.db/history.db
test -s run.json && echo saved
bench --db . --quiet
env -u HOME deepclock bench --runs 3 --warmup 0 --save run.json -- true > text
echo "exit $?"
