# A program that is killed by a signal: the same facts, note and sentence of each command, also in the report of the record.
zone-program || exit
for command in count memory sample trace; do
	deepclock $command --no-history --save $command.json -- ./program crash >out 2>err
	echo "$command $?"
	record $command.json 'f("result", "signal")' 'f("result", "exit_status")' 'r["incomplete"]' 'note("program-killed")["text"]'
	grep killed err
	deepclock report $command.json | grep 'INCOMPLETE'
done
