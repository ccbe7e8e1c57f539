# A rank that takes 100 ms longer for a part of each step is named, with the part, and only rank 0 prints. The delay is
# longer than what a busy machine does to a rank in most steps.
ranks-program || exit
ranks-job 3 deepclock ranks --quiet --no-history --save run.json -- ./program shared 24 1 100
cat exit.0 exit.1 exit.2 err.0 err.1 err.2 out.1 out.2
record run.json 'f("job", "straggler")' 'f("job", "straggler_part")' 'f("job", "straggler_p") <= 0.01' \
	'f("job", "launcher")' 'f("job", "ranks")' 'f("job", "steps")' 'f("job", "collectives")' 'r["incomplete"]' \
	'[row[0] for row in t("ranks")["rows"]]' '[row[-1] for row in t("ranks")["rows"]]' \
	'[row[0] for row in t("parts")["rows"]]' '[row[:2] for row in t("collectives")["rows"]]' \
	'0 < m("ranks/cost")["value"] < m("ranks/step")["value"]'
# What each rank used, in the columns of the table.
record run.json '[row[11] > 0 and row[12] > 0 for row in t("ranks")["rows"]]' '[c["key"] for c in t("ranks")["columns"]][11:]'
# Over time: 22 steps of each rank, in which the straggler waits least.
record run.json 'len(t("ranks/times")["rows"])' 't("ranks/times")["rows"][22][:3]' 'min((sum(row[3] for row in t("ranks/times")["rows"] if row[0] == k), k) for k in range(3))[1]'
# Two steps of all ranks: in the typical one, the second, the straggler's collective begins last.
record run.json 'len({row[0] for row in t("ranks/spans")["rows"]})' '[row[1:4] for row in t("ranks/spans")["rows"]][:5]' \
	'max((row[4], row[1]) for row in t("ranks/spans")["rows"] if row[2] == "collective" and row[0] == t("ranks/spans")["rows"][-1][0])[1]'
sed -n 's/: it costs.*//p' out.0
# The clocks of one machine: the exchanges agree with it, within ten round trips.
record run.json '[abs(row[7]) <= 10 * row[10] for row in t("ranks")["rows"][1:]]'
