# A record written by --save is added to the history too, byte for byte, with the commit of the working directory.
export XDG_DATA_HOME="$PWD/data"
bench() { deepclock bench --runs 3 --warmup 0 "$@" -- true > text; echo "exit $?"; }
mkdir -p .git
echo 0123456789012345678901234567890123456789 > .git/HEAD
bench --save run.json
test -f data/deepclock/history.db && echo there
deepclock history show last --format json | cmp - run.json && echo the same bytes
deepclock history list --format csv | cut -d, -f3,4,5,8,9
echo -- of another commit
bench --save run.json --commit abcdef
deepclock history list --format csv --limit 1 | tail -1 | cut -d, -f8
echo -- not in the history
bench --save run.json --no-history
deepclock history list --format csv --command bench | wc -l
echo -- in another one, and in no file
bench --db other.db
deepclock history list --db other.db --format csv | wc -l
DEEPCLOCK_DB=other.db bench --save run.json
deepclock history list --db other.db --format csv | wc -l
echo -- not saved at all
bench
deepclock history list --format csv | wc -l
