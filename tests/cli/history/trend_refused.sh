deepclock history trend
history-lines 3 | deepclock history import -
deepclock history trend latency/medain
deepclock history trend latency/p99
deepclock history trend --subject zoo:b
deepclock history trend --since yesterday
echo -- incomplete records are left out, also the newest of all
history-lines 1 first=5 prefix=y cpu=another incomplete=5 | deepclock history import -
deepclock history trend | sed -n '/latency\/median/p'
history-lines 1 prefix=x subject=zoo:c incomplete=0 | deepclock history import -
deepclock history trend --subject zoo:c
echo "exit $?"
deepclock history trend --by week
