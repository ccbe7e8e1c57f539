history-lines 5 | deepclock history import -
deepclock history show last | head -8
deepclock history show 0001
deepclock history show last~4 --format csv
deepclock history show last --format json > record.json
deepclock report record.json --format csv
deepclock history show 00
deepclock history show 7
deepclock history show last~5
deepclock history show last --format json > /dev/full
