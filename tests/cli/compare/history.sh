# A record compared with its predecessor in the history: a gate without a baseline file.
measure() {
	printf '#!/bin/sh\nsleep %s\n' "$1" > program
	chmod +x program
	deepclock bench --quiet --runs 80 --warmup 2 --save "$2" -- ./program > text
}
measure 0.005 0.json
deepclock compare --quiet --history 0.json
echo $?
measure 0.05 1.json
deepclock compare --quiet --history 1.json --margin 20% --save run.json > text
[ $? -ge 3 ] && echo gate # on a busy machine it may be inconclusive
# Not a measurement: only --db without --history, or --commit, adds it to a history.
deepclock compare --quiet 0.json 1.json --save run.json > text
deepclock history list --command compare | head -1
deepclock compare --quiet 0.json 1.json --db other.db > text
deepclock history list --command compare --db other.db | head -1
record run.json 'f("compare", "verdict") in ("slower", "undecided")' 'm("compare/ratio")["value"] > 2'
deepclock compare --history zoo:simplenet
echo $?
deepclock compare --history 0.json 1.json
echo $?
