# A limit of address space (ulimit -v): the tables of threads are smaller, so that the program's own memory fits; a note has both.
count-program || exit
(ulimit -v 1000000 && export MALLOC_ARENA_MAX=1 && exec deepclock count --no-history --save run.json -- ./many 20 >out 2>&1)
record run.json 'f("result", "exit_status")' '[row[1] for row in t("functions")["rows"] if row[0] == "leaf"]' 'note("count-lost")' \
	'note("address-space-limit") is not None'
deepclock count --no-history --save run.json -- ./many 20 >out 2>&1
record run.json 'note("address-space-limit")'
