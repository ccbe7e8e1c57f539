# Events that were requested are in the text, also beside functions, with the reason of one that is absent.
count-program || exit
shown() {
	sed -n 's/^\(  \(count of \)\?\(page-faults\|minor-faults\|cpu-migrations\|L1-dcache-load-misses\):\? *\)\(absent\|[0-9]\).*/\1N/p; s/^  and .* more events/&/p'
}
deepclock count --no-history -e faults,minor-faults,L1-dcache-load-misses -- ./program calls 2>notes | shown
echo 'more'
deepclock count --no-history -e cs,faults,minor-faults,major-faults,cpu-clock,task-clock,cpu-migrations -- ./program calls 2>notes | shown
echo 'details'
deepclock count --no-history -e faults,minor-faults,L1-dcache-load-misses --details --save run.json -- ./program calls 2>notes | shown
echo 'report'
deepclock report run.json | shown
echo 'none'
deepclock count --no-history -- ./program calls 2>notes | shown
