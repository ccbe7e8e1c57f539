# A limit on the size of files (ulimit -f) never ends the program by SIGXFSZ, and is named as the reason; with enough room
# everything is counted, threads that followed each other too.
count-program || exit
for blocks in 16 40000; do
	(ulimit -f $blocks && exec deepclock count --no-history --save run.json -- ./many 40 > out 2>&1)
	record run.json 'f("result", "exit_status")' '"ulimit -f" in note("count-none")["text"]'
done
deepclock count --no-history --save run.json -- ./many 40 > out
record run.json '[row[1] for row in t("functions")["rows"] if row[0] == "leaf"]' 'note("count-none")' 'f("count", "threads")'
