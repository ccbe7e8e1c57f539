# --over sizes: on one thread the second is a third slower at the first size, and a third faster at the last.
deepclock compare --quiet zoo:simplenet --vary threads=1,1 2>&1
echo $?
deepclock compare --quiet --engine null --vary engine-option=ns=100000,ns=200000 --over batch=1,8 --rounds 15 \
	--margin 20% --save run.json zoo:simplenet > text
echo $?
record run.json 't("compare/over")["columns"][0]["key"]' \
	'[(row[0], row[5]) for row in t("compare/over")["rows"]]' 'f("compare", "verdict/batch=8")' \
	'f("compare", "verdict")' \
	'[x["absent"] for x in r["facts"] if x["key"] == "crossover"]'
