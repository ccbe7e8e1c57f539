# Impossible options, or options that would be ignored, are refused before anything is measured: the program
# would create a file.
printf '#!/bin/sh\ntouch measured\n' > prog
chmod +x prog
mkdir folder
mkdir -m 555 locked
echo 'no database' > text.db
mkfifo pipe
no() {
	unprivileged deepclock bench -q "$@" -- ./prog > printed
	echo "$? $(wc -c < printed | tr -d ' ') $*"
}
no --save missing/run.json
no --save folder
no --save run.json/below
no --save prog/below
no --save locked/run.json
no --save ''
no --db folder
no --db text.db
no --db /dev/null
no --figures missing/ecdf.pdf
no --db prog/history.db
no --db locked/new/history.db
no --db h.db --no-history
no --commit abc
no --commit '日本' --save run.json
no --runs 0
no --time 0s
no --processes 0
no --keep 0
no --keep 1e18
no --level 1
no --precision 1
no --precision 5
no --precision 0.5%x
no --max-time 2
no --idle 2
no --runs 5 --precision 2%
no --time 1s --precision 2%
no --runs 5 --min-runs 50
no --runs 5 --min-time 1s
no --runs 5 --time 1s
no --directory ''
test -e measured && echo measured
for words in 'load --rate 0' 'load --requests 0' 'load --max-queue 0' 'load --time 0s' 'load --precision 1%' 'load --max-time 1s' \
	'load --confidence 90%' 'throughput --batch 0' 'throughput --batch 1,2 --max-batch 4' 'throughput --memory 0' \
	'throughput --save missing/x.json' 'throughput --min-batch 8 --max-batch 4' 'compare --rounds 9 --max-rounds 20' \
	'compare zoo:simplenet --save missing/x.json' 'accuracy zoo:simplenet --save missing/x.json' 'profile --save missing/x' \
	'profile --profile-runs 0' 'profile --runs 5 --precision 2%' 'cost --save missing/x.json' 'load --save missing/x.json' \
	'pitfalls --save missing/x.json' 'pitfalls --time 1' 'cost --batch 0' 'cost --dim='; do
	deepclock $words zoo:simplenet
	echo "$? $words"
done
deepclock machine --quick --save missing/x.json
echo $?
for words in '--keep 0' '--keep 0 --older-than 1d' '--older-than 90' '--keep -1'; do
	deepclock history prune --db none.db $words
	echo "$? $words"
done
# Options without a contradiction are accepted; directories of a history are created.
deepclock bench -q -f csv --runs 3 -w 0 --save run.json --db new/folder/h.db -- ./prog > printed && ls run.json new/folder/h.db measured
deepclock bench -q -f csv --precision 100% --min-runs 3 --max-time 200ms -w 0 -- ./prog | grep -c latency/median
# A ratio of 1 is passed to a separate process.
deepclock bench -q -f csv --engine null --processes 2 --precision 100% --min-runs 3 --min-time 1ms -w 0 zoo:simplenet | grep -c latency/median
(cat pipe > read & deepclock bench -q -f csv --runs 3 -w 0 --save pipe --no-history -- ./prog > printed; wait)
ls
no --warmup 3 --max-warmup 1s
no --max-warmup 1s --warmup 10ms
no --quiet --verbose
