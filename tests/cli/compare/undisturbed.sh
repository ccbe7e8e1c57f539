# Subjects whose runs cannot be known to be undisturbed: inconclusive with the reason, and without a measurement.
try() {
	deepclock compare --quiet --undisturbed --save run.json "$@" > out
	echo "exit $?"
	record run.json 'f("compare", "verdict")' 'f("compare", "gate")' 'f("compare", "metric")' 'f("method", "rounds")'
	grep -o '^  undecided: [a-z0-9:=]*:' out # the reason depends on how busy the machine is
}
try --engine null --engine-option ns=1000 --vary seed=1,2 zoo:simplenet --margin 5%
try cmd:true 'cmd:true '
# Longer runs are compared, if the machine leaves some alone. One that takes twice as long is never found faster or the same.
deepclock compare --quiet --undisturbed --engine null --vary engine-option=ns=1000000,ns=2000000 --margin 5% --rounds 12 \
	--save run.json zoo:simplenet > out
case $? in 0 | 3 | 4) ;; *) cat out ;; esac
record run.json 'f("method", "rounds") + f("method", "rounds_disturbed") == 12' \
	'f("compare", "verdict") in ("slower", "undecided")' 'f("method", "statistic")'
deepclock compare --undisturbed --over batch=1,2 --vary threads=1,2 zoo:simplenet
echo $?
