# Anonymous mappings are counted separately: partial munmap(), and mappings that shrink.
heap-program || exit
deepclock memory --quiet --save run.json -- ./program mapped >out || cat out
record run.json 'm("memory/mapped_peak")["value"] / 4096' '[[row[0], row[1] / 4096, row[2] / 4096, row[3]] for row in t("memory/mappings")["rows"]]'
