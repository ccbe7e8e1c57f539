# heavy
# Twenty programs add 400 records each to a file that does not exist yet, and none gives up.
history-lines 8000 prefix=w | split -l 400 - lines
for f in lines*; do (deepclock history import $f || echo "$f failed") & done
wait
deepclock history check | sed 's/:.*records,.*,/:/'
deepclock history list --limit 0 --format csv | grep -c ^w
