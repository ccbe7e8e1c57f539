# Ctrl-C: the mistakes until then are reported, and no file remains.
mkdir tmp
TMPDIR=$PWD/tmp timeout --preserve-status -s INT 4 deepclock pitfalls --quiet --engine null \
	--engine-option ns=100000 --time 300ms --only one-sample,cpu-for-wall,wall-for-cpu,coarse-clock,busy-neighbour,no-warmup \
	--skip seconds-clock --save run.json zoo:simplenet > text 2> notes
echo $?
ls tmp
record run.json 'r["incomplete"]' 'note("interrupted")["severity"]' 'm("latency/median")["value"] > 0'
