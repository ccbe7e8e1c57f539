history-lines 5 | deepclock history import -
deepclock history show --details last | head -8
deepclock history show --details 0001
deepclock history show last~4 --format csv
deepclock history show last --format json > record.json
deepclock report record.json --format csv
deepclock history show --details 00
deepclock history show --details 7
deepclock history show --details last~5
deepclock history show last --format json > /dev/full
