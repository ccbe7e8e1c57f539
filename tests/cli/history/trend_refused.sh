deepclock history trend
history-lines 3 | deepclock history import -
deepclock history trend latency/medain
deepclock history trend latency/p99
deepclock history trend --subject zoo:b
deepclock history trend --since yesterday
deepclock history trend --by week
