# A change of 5 % from the 31st record on; records of another machine and incomplete records are left out.
history-lines 45 change=30 factor=1.05 commits=2 incomplete=44 | deepclock history import -
history-lines 4 prefix=c cpu=another | deepclock history import -
COLUMNS=100 deepclock history trend
echo -- by commit
COLUMNS=80 deepclock history trend --by commit --limit 12
echo -- by day, a metric of which more is better, without intervals
deepclock history trend throughput/items --by day --since 2026-10-17 --until 2026-10-25
echo -- small changes are of no interest
deepclock history trend --min-change 10% | head -3
echo -- of everything
deepclock history trend --mixed --limit 0 | sed -n "1,6p;37,39p;\$p"
echo -- a commit with a name
history-lines 45 prefix=n | sed -n 1,30p | deepclock history import - --commit release-1.10 --db named.db
history-lines 45 prefix=n change=30 factor=1.1 | sed -n '31,$p' | deepclock history import - --commit release-1.11 --db named.db
COLUMNS=100 deepclock history trend --db named.db | sed -n 2p
COLUMNS=100 deepclock history alarms --db named.db | sed -n 1p
