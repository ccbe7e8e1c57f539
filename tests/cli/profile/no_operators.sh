# An engine that fails to report its operators after the latency was measured: the latency is reported.
mkdir tmp
TMPDIR=$PWD/tmp deepclock profile --quiet --engine null --engine-option ns=100000 --runs 5 --warmup 1 --profile-runs 5 \
	--no-roofs --save run.json zoo:simplenet > text
echo $?
ls tmp
record run.json 'r["incomplete"]' 'note("profile-failed")["severity"]' 'm("latency/median")["value"] > 0' \
	'len(r["ops"])'
