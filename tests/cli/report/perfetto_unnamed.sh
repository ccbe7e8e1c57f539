# A trace of Perfetto is recognised whatever its name; JSON that begins with an empty line, as a packet does, is not.
zone-program || exit
deepclock trace --no-waits --format csv -o named.pftrace -- ./program >/dev/null
cp named.pftrace trace
deepclock report named.pftrace --format csv | sed 's/^"[^"]*"//' >named
deepclock report trace --format csv | sed 's/^"[^"]*"//' >unnamed
grep -c zones/ named && cmp named unnamed
deepclock report trace --format folded | wc -l
{ echo; saved-record model latency/median 1000000 - -; } >record.json
deepclock report record.json --format csv | grep -c latency/median
