# Without a launcher one process is a job of one rank; its trace can be kept.
ranks-program || exit
unset RANK WORLD_SIZE
mkdir traces
deepclock ranks --quiet --no-history --save run.json --traces traces -- ./program shared 12 | sed -n 's/ takes.*//p'
record run.json 'f("job", "launcher")' 'f("job", "ranks")' 'f("job", "straggler")' 'len(t("ranks")["rows"])' 'f("job", "steps")'
ls traces
# Ranges with other names.
deepclock ranks --no-history --step nothing -- ./program shared 4 | sed -n 2p
deepclock ranks --quiet --no-history --step update --collective forward --save run.json -- ./program shared 12 > out
record run.json 'f("job", "steps")' '[row[0] for row in t("collectives")["rows"]]'
# A collective as the step: a step ends with each call, and the answer without steps proposes it.
deepclock ranks --quiet --no-history --step collective:sum --save run.json -- ./program shared 12 > out
record run.json 'f("job", "steps")' '[row[0] for row in t("collectives")["rows"]]'
# The record is shown again, and as other formats.
deepclock report run.json --format csv | grep -c '"ranks/step"'
deepclock report run.json --format markdown | grep -c 'Ranks, per step'
deepclock report run.json --html run.html > out && grep -c 'Ranks, per step' run.html
