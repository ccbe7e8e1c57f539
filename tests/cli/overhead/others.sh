# Each command whose times depend on other programs reports their CPU use; sizes do not depend on it.
zone-program zone || exit # not under a sanitizer, which cannot trace other programs
for command in sample trace count; do
	deepclock $command --save $command.json -- sh -c 'sleep 0.3' >out 2>&1
	echo "$command"
	record $command.json "f('$command', 'others_cpu') is not None"
done
deepclock overhead --method count --rounds 2 --save overhead.json -- sh -c 'sleep 0.3' >out 2>&1
record overhead.json 'f("overhead", "others_cpu") is not None'
deepclock memory --save memory.json -- sh -c 'sleep 0.3' >out 2>&1
record memory.json 'any("others_cpu" in str(x) for x in r["facts"])'
