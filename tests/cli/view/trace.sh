# The page of a trace has its timeline, whichever command writes it; a page of several traces has none.
printf '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":9},{"ph":"X","name":"b","pid":1,"tid":1,"ts":1,"dur":2}]' > t.json
deepclock view t.json --no-browser -o view.html > /dev/null
deepclock report t.json -o report.html
deepclock report t.json --format html > stdout.html
for page in view report stdout; do grep -o 'id="deepclock-timeline[a-z-]*"' $page.html; done
grep -o '"ranges_told":[0-9]*,"marks_told":[0-9]*' view.html
deepclock report t.json t.json -o two.html
grep -c 'id="deepclock-timeline' two.html
