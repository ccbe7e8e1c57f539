# Killed in the middle: the same command continues after the last finished step.
printf 'sleep_ns=3000000,9000000\n' > space.txt
search() {
	"$@" deepclock tune --quiet --engine null --engine-option sleep_ns=12000000 --space space.txt --trial 30ms \
		--max-time 45s --resume journal --save run.json zoo:simplenet > text
	echo $?
}
search killed-in-search
sed -n '$p' text
lines=$(wc -l < journal)
printf '{"schema": 1, "deepcl' >> journal # a partial line, like that of a writer killed in the middle
search
record run.json "f('method', 'trials_resumed') == $lines - 1" 'f("tune", "configuration")' 'f("engine", "name")' \
	'f("method", "trials") > f("method", "trials_resumed")' '[f["section"] for f in r["facts"] if f["section"] == "trial"]'
# Once more: no step remains.
search
record run.json 'f("method", "trials") == f("method", "trials_resumed")' 'f("tune", "configuration")'
# The journal of one search is refused by another, and a file of something else too.
deepclock tune --quiet --engine null --engine-option sleep_ns=12000000 --space space.txt --trial 31ms \
	--max-time 45s --resume journal zoo:simplenet
echo $?
printf 'sleep_ns=3000000,10000000\n' > space.txt
deepclock tune --quiet --engine null --engine-option sleep_ns=12000000 --space space.txt --trial 30ms \
	--max-time 45s --resume journal zoo:simplenet
echo $?
echo text > other
deepclock tune --quiet --engine null --space space.txt --resume other zoo:simplenet
echo $?
cat other
