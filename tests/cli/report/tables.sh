# Results in rows: the same bytes again as JSON, on pages of any width, and each cell in CSV.
record=$(dirname "$0")/../../data/record_tables.json
deepclock report "$record" --format json | cmp - "$record" && echo "the same bytes"
deepclock report --details "$record" | sed -n '9,24p'
COLUMNS=120 deepclock report --details "$record" | sed -n '9,13p'
deepclock report "$record" --format csv | grep -c '"throughput/points/'
deepclock report "$record" --format csv | grep '"throughput/points/32/latency"' | tr -d '\r'
sed 's/\[8, {/[{/' "$record" > torn.json
deepclock report --details torn.json
