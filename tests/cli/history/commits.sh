# Of four machines one is slower since the second commit, one has one record of each, one has the second commit alone.
history-lines 12 commits=6 change=6 factor=1.05 | deepclock history import -
history-lines 12 prefix=c cpu=another commits=6 | deepclock history import -
history-lines 2 prefix=d cpu=third commits=1 | deepclock history import -
history-lines 6 prefix=e cpu=fourth first=6 commits=6 | deepclock history import -
history-lines 12 prefix=f subject=zoo:b commits=6 change=6 factor=0.9 | deepclock history import -
COLUMNS=100 deepclock history commits 00000 0001
echo "status $?"
echo -- more is better
COLUMNS=100 deepclock history commits 0000 0001 throughput/items --subject zoo:a --cpu 'one*'
echo "status $?"
echo -- nothing was slower
deepclock history commits 0000 0001 --subject zoo:b --format csv | cut -d, -f2,11
echo "status $?"
deepclock history commits 0000 0001 --limit 2 | grep -c bench
echo -- nothing can be tested
deepclock history commits 0000 0001 --cpu third
echo "status $?"
deepclock history commits 0000 0001 --cpu fourth
echo "status $?"
echo -- refused
deepclock history commits 0000 000
deepclock history commits 0000 0001 latency/p99
deepclock history commits 0000
deepclock history commits 0000 'a b'
echo -- a name is whole, or the beginning of one alone
history-lines 3 | deepclock history import - --commit v1 --db tags.db
history-lines 3 prefix=b change=0 factor=2 | deepclock history import - --commit v10 --db tags.db
history-lines 3 prefix=c | deepclock history import - --commit v2 --db tags.db
deepclock history commits v1 v10 --db tags.db --format csv | cut -d, -f2,7,11,14,15
deepclock history commits v10 v2 --db tags.db --format csv | cut -d, -f2,11,14,15
deepclock history commits v v2 --db tags.db
echo -- a hash may be abbreviated
history-lines 3 | deepclock history import - --commit 3f09c1a --db short.db
history-lines 3 prefix=b | deepclock history import - --commit 3f09c1a0123456789012345678901234567890ab --db short.db
history-lines 3 prefix=c | deepclock history import - --commit 81bd20e --db short.db
deepclock history commits 3f09c1a 81bd20e --db short.db --format csv | cut -d, -f14,15
history-lines 3 prefix=d | deepclock history import - --commit 3f09c1af23456789012345678901234567890abc --db short.db
deepclock history commits 3f09c1a 81bd20e --db short.db
