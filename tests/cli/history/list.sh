history-lines 40 commits=3 incomplete=38 > a
history-lines 3 prefix=b subject=zoo:another_network_with_a_long_name first=50 > b
deepclock history import a b
deepclock history list | sed 's/ *$//' > out
head -7 out
tail -3 out
wc -l < out
echo -- all, none
deepclock history list --limit 0 | grep -c " bench "
deepclock history list --limit 0 --quiet --subject 'zoo:?' --since 2026-10-01 --until 2026-10-04
deepclock history list --subject nobody
deepclock history list --command profile --quiet
deepclock history list --at-commit 0003 | cut -c1-40
echo -- wide, another metric
COLUMNS=120 deepclock history list --limit 2 --metric throughput/items
deepclock history list --limit 2 --metric no/such 2>&1
deepclock history list --limit 2 --metric latency/medain --quiet 2>&1
echo -- for scripts
deepclock history list --limit 2 --format csv
deepclock history list --limit 2 --format json
deepclock history list --subject nobody --format json
echo -- rates of models and of programs beside each other
history-lines 1 prefix=d subject=program first=60 | sed 's|items/s|runs/s|g' | deepclock history import -
deepclock history list --limit 2 --metric throughput/items
