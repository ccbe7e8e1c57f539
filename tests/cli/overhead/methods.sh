# heavy
# A row for each method, whose interval contains its ratio; no ratio is 1.
sampled-program || exit
sampled-by >/dev/null || { echo "no samples can be taken here"; exit 77; }
deepclock overhead --quiet --rounds 3 --method sample --method trace --save run.json -- ./program shares 100 >/dev/null
echo $?
record run.json 'sorted(row[0] for row in t("overhead")["rows"])' 't("overhead")["rows"][0][2] == 1' 'f("overhead", "rounds")' \
	'all(row[1] > 0 for row in t("overhead")["rows"] if row[0] != "trace")' 'f("method", "sample_time")' 'f("method", "memory")'
# Both methods together: the files are the record and the trace, which contains the samples.
deepclock overhead --quiet --rounds 2 --method trace-sample --method trace --save both.json -- ./program shares 100 >/dev/null
record both.json '[size for name, size in sorted((row[0], row[4]) for row in t("overhead")["rows"][1:])] == sorted((row[4] for row in t("overhead")["rows"][1:] if row[4] > 0))' 'f("method", "trace-sample_time")'
# Each time is the program's own: deepclock's work after the exit is in the time of the whole command only.
deepclock overhead --quiet --rounds 2 --save all.json -- ./program shares 100 >/dev/null
record all.json 'sorted(row[0] for row in t("overhead")["rows"])' '[f("method", name + "_time") for name in sorted(row[0] for row in t("overhead")["rows"][1:])]' \
	'all(row[1] < row[5] for row in t("overhead")["rows"][1:] if row[0] != "count")'
