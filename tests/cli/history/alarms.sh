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
echo -- a change of 0.03 %, of medians with a scatter of 50 ns
history-lines 45 | python3 -c '
import json, sys
for i, line in enumerate(sys.stdin):
    r = json.loads(line)
    r["metrics"] = [{"tag": "latency/median", "unit": "ns", "value": 1e6 + i * 7 % 11 * 5 + (300 if i >= 25 else 0)}]
    print(json.dumps(r))' | deepclock history import - --db small.db
COLUMNS=200 deepclock history alarms --db small.db | sed -n 's/.*median \(.*\) ms to \(.*\) ms/\1; \2/p'
deepclock history alarms runs/count
deepclock history alarms latency/p99
