# Processes that go on after the program has ended are noted, by each command that observes one.
zone-program zone || exit # not under a sanitizer
for command in count memory sample; do
	deepclock $command --no-history -q --save $command.json -- sh -c 'sleep 4 >out 2>&1 &' >$command.out &
done
deepclock count --no-history -q --save ended.json -- sh -c 'sleep 0.1 >out 2>&1 &' >ended.out &
wait
for command in count memory sample ended; do
	record $command.json 'note("program-outlived") and note("program-outlived")["text"]' | sed 's/process [0-9][0-9]*/process N/'
done
grep -c "went on after its end" memory.out
deepclock report count.json | grep -c "went on after its end"
