# The newest events are written when a zone exceeds its limit, each time into a separate file.
zone-program || exit
deepclock trace --no-waits --last 1MiB --limit step=1h --limit slow=800ms --save run.json -- ./program slow >out
record run.json 'f("trace", "over_limit")' 'f("trace", "dumps")'
ls -- trace*
deepclock report trace.dump-2.pftrace --format csv | grep 'zones/slow/calls'
# No zone exceeds the limit.
deepclock trace --no-waits --last 1MiB --limit slow=1h --save run.json -o fast.pftrace -- ./program slow >out
record run.json 'f("trace", "over_limit")'
ls -- fast*
