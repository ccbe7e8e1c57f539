# A recorded program has its timeline on the page.
zone-program waits || exit
deepclock trace -o w.pftrace --quiet --html traced.html -- ./program > /dev/null
grep -c 'id="deepclock-timeline"' traced.html
# A format that cannot be read back has no timeline.
deepclock trace -o w.folded --quiet --html folded.html -- ./program > /dev/null
grep -c 'id="deepclock-timeline"' folded.html
