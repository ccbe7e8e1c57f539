# A program with a limit of address space (ulimit -v): less is reserved, a note has what the observation takes of it, and
# where it does not fit the reason.
heap-program || exit
ends() { deepclock $1 --no-history -q --save run.json -- sh -c "ulimit -v $2; exec ./program $3" >out 2>&1; }
ends memory 400000 leak
record run.json 'f("result", "exit_status")' 'note("address-space-limit") is not None' 'note("memory-lost")' \
	'm("memory/heap_leaked")["value"] > 1234'
ends memory unlimited leak
record run.json 'note("address-space-limit")' 'm("memory/heap_leaked")["value"] > 1234'
ends memory 70000 leak
record run.json 'f("result", "exit_status")' 'note("memory-lost")["text"]'
ends 'trace -o a.pftrace' 400000 leak
record run.json 'f("result", "exit_status")' 'note("address-space-limit") is not None' 'f("trace", "buffer") < 16 << 20'
ends 'trace -o b.pftrace' unlimited leak
record run.json 'note("address-space-limit")' 'f("trace", "buffer") == 64 << 20'
