# SQLite is loaded when a history is opened; without it all other functions work.
saved-record a latency/median 100000 99000 101000 > a.json
deepclock history import a.json
mkdir empty
: > empty/libsqlite3.so.0
export LD_LIBRARY_PATH=empty
deepclock history import none.json 2>&1 | sed 's/loaded: .*/loaded: WHY/'
deepclock history import none.json > /dev/null 2>&1 || echo "$?"
deepclock zoo --format csv | head -1 | cut -c1-6
# Whether there is an earlier record is not known: that is not a first one, which is undecided.
deepclock compare --history a.json > /dev/null 2>&1
echo "$?"
