history-lines 6 > a
history-lines 4 prefix=b subject=zoo:b > b
deepclock history import a b
deepclock history prune --keep 3 --dry-run
deepclock history list --limit 0 | wc -l
deepclock history prune --keep 3 --subject zoo:b
deepclock history prune --keep 3
deepclock history prune --keep 3
deepclock history list --limit 0 --format csv | cut -d, -f1,4
deepclock history prune --older-than 2026-09-25
deepclock history list --limit 0 --format csv | cut -d, -f1
deepclock history prune
deepclock history prune --older-than ever
deepclock history check | sed 's/,.*,/,/'
