# Hooks: once before, before each run, once after; the last one always runs.
run() {
	rm -f log
	deepclock bench --quiet --runs 2 --warmup 1 --setup "sh -c 'echo setup >> log'" --cleanup "sh -c 'echo cleanup >> log'" "$@" > text
	echo "$? $(tr '\n' ' ' < log)"
}
run --prepare "sh -c 'echo prepare >> log'" -- sh -c 'echo run >> log'
run --prepare "sh -c 'echo prepare >> log'" --processes 2 -- sh -c 'echo run >> log'
run -- sh -c 'echo run >> log; test $(wc -l < log) -lt 4'
run -- false
run --prepare 'sh -c "test ! -e late && touch late"' -- sh -c 'echo run >> log'
run --setup "sh -c 'echo broken >> log; exit 7'" -- sh -c 'echo run >> log'
run --cleanup "sh -c 'echo cleanup >> log; exit 9'" -- sh -c 'echo run >> log'
rm -f log
deepclock bench --quiet --runs 6 --warmup 1 --setup 'touch set' --cleanup 'rm set' cmd:'test -e set' cmd:'sleep 0.001' > text
echo $? $(ls set 2> /dev/null)
deepclock compare --quiet --rounds 6 --setup "sh -c 'echo setup >> log'" --prepare 'touch file' cmd:'rm file' cmd:'rm ./file' > text
echo $(( $? == 1 )) $(wc -l < log)
# Refused before anything runs.
deepclock bench --setup 'touch set' --prepare "sh -c 'x" -- true
echo $?
deepclock bench --setup 'touch set' --engine null zoo:resnet18
echo $?
test -e set || echo nothing ran
