# heavy
# Models are in fresh processes for every round, unless starting takes long for the time, or one process is asked for:
# then the answer says so. A process that is killed ends the comparison, with the rounds before it.
need-ort || exit 77
starts() {
	deepclock compare --quiet --engine null --vary engine-option=ns=100000,ns=300000 --trial 1ms --rounds 6 "$@" --save run.json zoo:simplenet |
		grep -c 'in one$\|in one process$'
	record run.json 'f("method", "trial")' 'f("method", "sessions")' '(f("method", "starting_share") or 0) > 0.5' \
		'[x["absent"] for x in r["facts"] if x["key"] == "starting_share" and "absent" in x]'
}
starts --max-time 5m
starts --max-time 50ms
starts --processes 1
starts --keep-sessions
starts --processes 2 2>&1 | head -1
deepclock bench --quiet --engine null --engine-option ns=100000 --precision 50% --max-time 5m --save rank.json zoo:simplenet zoo:two_layer > text
record rank.json 'f("method", "trial")' '"in one process" in f("result", "answer")'
deepclock bench --quiet --engine null --engine-option ns=100000 --runs 8 --processes 1 --save rank.json zoo:simplenet zoo:two_layer > text
record rank.json 'f("method", "trial")' '"in one process" in f("result", "answer")'
deepclock compare --quiet --engine null --over batch=1,2 --vary engine-option=ns=100000,ns=300000 --trial 1ms --rounds 6 --max-time 5m --save over.json zoo:simplenet > text
record over.json 'f("method", "trial")' '"in one process" in f("result", "answer")'
# Programs beside models have no process of ours: each of their runs is one.
deepclock compare --quiet --trial 1ms --rounds 6 --max-time 5m --save mixed.json zoo:simplenet cmd:true > text
record mixed.json 'f("method", "trial")' '"in one process" in f("result", "answer")'
deepclock compare --quiet --rounds 6 --max-time 5m --save programs.json cmd:true cmd:true > text
record programs.json 'f("method", "trial")' 'f("method", "sessions")'

deepclock compare --quiet --engine null --vary engine-option=ns=100000,ns=110000 --trial 1ms --rounds 10000 --save run.json \
	zoo:simplenet > text 2> why &
seen=
while kill -0 $! 2> none; do
	for child in $(cat /proc/$!/task/*/children 2> none); do
		case " $seen " in *" $child "*) ;; *) seen="$seen $child" ;; esac
		# Two of each round: this one is of the third or a later one.
		[ $(echo $seen | wc -w) -ge 6 ] && kill -9 $child 2> none
	done
	sleep 0.02
done
record run.json 'r["incomplete"]' '"killed by signal 9" in note("engine-failed")["text"]' 'f("method", "rounds") > 0'
