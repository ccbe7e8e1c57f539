# heavy
# Every trial in a fresh process.
deepclock compare --quiet --engine null --vary engine-option=ns=200000,ns=400000 --fresh --rounds 15 --margin 10% \
	--trial 50ms --save run.json zoo:simplenet > text
echo $?
record run.json 'f("compare", "verdict")' 'f("method", "trial")' 'len(s("compare/rounds/engine-option=ns=400000")["values"])'
