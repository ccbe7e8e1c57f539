# Of eight series, one subject on one machine changed, which are two metrics of it; another has too few records.
history-lines 45 change=30 factor=1.05 commits=2 incomplete=44 | deepclock history import -
history-lines 45 prefix=c cpu=another | deepclock history import -
history-lines 45 prefix=d change=36 factor=0.9 subject=zoo:b commits=2 | deepclock history import -
history-lines 45 prefix=e subject=zoo:c | deepclock history import -
history-lines 6 prefix=f subject=zoo:few | deepclock history import -
COLUMNS=100 deepclock history alarms
echo -- one metric, one alarm
COLUMNS=100 deepclock history alarms throughput/items --limit 1
echo -- small changes are of no interest
COLUMNS=100 deepclock history alarms --min-change 7% | tail -1
echo -- nothing
deepclock history alarms --subject zoo:c
deepclock history alarms --subject zoo:few
deepclock history alarms --by commit --cpu 'one*' --subject zoo:a
deepclock history alarms --mixed
deepclock history alarms runs/count
deepclock history alarms latency/p99
