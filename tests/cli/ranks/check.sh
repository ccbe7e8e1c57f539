# Before a job: all ranks do the same, and a healthy job accuses nobody.
ranks-job 3 deepclock ranks --check --quiet --no-history --save run.json
cat exit.0 exit.1 exit.2 err.0 err.1 err.2 out.1 out.2
sed -n 's/: none of.*//p' out.0
record run.json 'f("job", "ranks")' 'f("job", "rounds")' 'f("result", "gate")' 'r["incomplete"]' '[row[-1] for row in t("check")["rows"]]' \
	'all(row[2] > 0 and row[4] > 0 for row in t("check")["rows"])'
# A rank that does not come.
RANKS="0 1" ranks-job 3 deepclock ranks --check --quiet --no-history --wait 1s --save run.json
cat exit.0 exit.1
record run.json 'r["incomplete"]' 't("check")["rows"][2][-1]'
# Mistakes.
unset RANK WORLD_SIZE
deepclock ranks --check
echo $?
deepclock ranks --check -- true
echo $?
RANK=1 WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 TORCHELASTIC_RUN_ID=$PWD MASTER_PORT=1 deepclock ranks --check --wait 10ms 2>&1 | sed "s/on '[^']*'/on 'FILE'/"
