# Before a job: all ranks answer, and the answer, the exit status and the gate agree with the table. On a busy machine a
# rank may be slow.
ranks-job 3 deepclock ranks --check --quiet --no-history --save run.json
cat exit.1 exit.2 err.0 err.1 err.2 out.1 out.2
record run.json 'f("job", "ranks")' 'f("job", "rounds")' 'r["incomplete"]' 'all(row[2] > 0 and row[4] > 0 for row in t("check")["rows"])' \
	'{row[-1] for row in t("check")["rows"]} - {"as the others", "slow"}' \
	'[row[0] for row in t("check")["rows"] if row[-1] == "slow" and f"rank {row[0]} is slow" not in f("result", "answer")]' \
	'("no rank is slow" in f("result", "answer")) == all(row[-1] == "as the others" for row in t("check")["rows"])' \
	'(f("result", "gate") == 0) == all(row[-1] == "as the others" for row in t("check")["rows"])' \
	'int(open("exit.0").read()) == f("result", "gate")'
# A rank that does not come.
RANKS="0 1" ranks-job 3 deepclock ranks --check --quiet --no-history --wait 4s --save run.json
cat exit.0 exit.1
record run.json 'r["incomplete"]' 't("check")["rows"][2][-1]'
# Mistakes.
unset RANK WORLD_SIZE
deepclock ranks --check
echo $?
deepclock ranks --check -- true
echo $?
RANK=1 WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 TORCHELASTIC_RUN_ID=$PWD MASTER_PORT=1 deepclock ranks --check --wait 10ms 2>&1 | sed "s/on '[^']*'/on 'FILE'/"
