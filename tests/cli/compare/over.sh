# --over sizes: on one thread the second is a third slower at the first size, and a third faster at the last.
need-ort || exit 77
deepclock compare --quiet zoo:simplenet --vary threads=1,1 2>&1
echo $?
deepclock compare --quiet --engine null --vary engine-option=ns=100000,ns=200000 --over batch=1,8 --rounds 15 \
	--margin 20% --save run.json zoo:simplenet > text
echo $?
record run.json 't("compare/over")["columns"][0]["key"]' \
	'[(row[0], row[5]) for row in t("compare/over")["rows"]]' 'f("compare", "verdict/batch=8")' \
	'f("compare", "verdict")' \
	'[x["absent"] for x in r["facts"] if x["key"] == "crossover"]'
# The headline does not name an option that --over varies.
deepclock compare --quiet --keep-sessions --vary batch=1,2 --over threads=1,2 --trial 1ms --rounds 6 --save threads.json zoo:simplenet > text 2> notes
record threads.json 'f("compare", "varies")'
