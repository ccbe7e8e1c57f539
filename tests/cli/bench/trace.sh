# The runs on a timeline, and the operators of more runs, each inside its run; the file has the format of 'trace'.
deepclock bench --quiet --engine null --engine-option ns=1000000 --engine-option operators=a:200000,b:500000 \
	--runs 20 --warmup 5 --trace run.pftrace --save run.json zoo:simplenet > /dev/null
echo $?
record run.json 'r["incomplete"]' 'f("trace", "runs")' 'f("trace", "runs_left_out")' 'f("trace", "format")' \
	'f("trace", "operators") == 2 * f("trace", "profiled_runs")' 'f("trace", "dropped_events")' \
	'note("trace-profiled")["severity"]' '[t["name"] for t in r["tables"]]' '[t["name"] for t in r["trees"]]'
deepclock report run.pftrace --format csv | grep -oE '"zones/(first run|warm-up run|run|measure|bench .*)/calls",[0-9]+' | sort
# The engine reports no operators: the runs are traced, and a message states it.
deepclock bench --quiet --runs 5 --warmup 1 --trace none.json --save run.json --engine null zoo:simplenet > /dev/null
echo $?
record run.json 'f("trace", "format")' 'note("trace-no-operators")["text"]' 'f("trace", "operators")'
# A program's runs; only 'trace' shows ranges inside them.
deepclock bench --quiet --runs 5 --warmup 2 --trace prog.folded --save run.json -- true > /dev/null
echo $?
record run.json 'f("trace", "format")' 'f("trace", "runs")' 'note("trace-no-operators")'
ls -- *.pftrace none.json prog.folded
# Impossible combinations are refused before anything is measured.
deepclock bench --trace run.pftrace --processes 2 zoo:simplenet
echo $?
deepclock bench --trace run.pftrace cmd:'touch ran' cmd:true
echo $?
deepclock bench --trace no/such/run.pftrace cmd:'touch ran'
echo $?
test -e ran || echo nothing ran
deepclock bench --trace - cmd:'touch ran'
echo $?
