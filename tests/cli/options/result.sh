# --format, --html and --save: every command whose result can be exported has them, others document their output.
deepclock bench zoo:simplenet --engine null --runs 60 --warmup 1 --quiet --db h.db --commit c1 --save run.json > /dev/null
for command in $(deepclock help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
	for option in format html save; do
		if deepclock $command --help | grep -q "^  \(-., \)\?--$option "; then
			printf '%s ' "$option"
		else
			deepclock $command --$option x 2>&1 | head -1 | sed 's/^deepclock: //'
		fi
	done
	echo "<- $command"
done
# The page and the record in addition to stdout, for every command.
deepclock engines null --html page.html --save kept.json | head -1
deepclock zoo simplenet --html page.html --save kept.json --format csv | head -1
deepclock count --events list --html page.html --save kept.json --format csv | head -1
deepclock history --db h.db --html page.html --save kept.json --format csv | head -1
deepclock history show last --db h.db --html page.html --save shown.json --format json | cmp - run.json
deepclock history trend --db h.db --html page.html --save kept.json --format csv | head -1
deepclock report run.json --html page.html --save again.json --format csv | head -1
grep -c '<!doctype html>' page.html
cmp run.json shown.json
cmp run.json again.json
deepclock report kept.json | grep latency/median
deepclock history --db h.db --format csv | grep -c c1
# Errors: two records in one file, a format that cannot hold a record, an invalid path.
deepclock report run.json run.json --save two.json
deepclock report run.json --format folded --html page.html
deepclock zoo --html none/page.html
echo $?
# A listing has no metrics for the formats of them.
for words in zoo engines 'history --db h.db' 'history alarms --db h.db'; do
	deepclock $words --format bencher 2>&1 | head -1
done
