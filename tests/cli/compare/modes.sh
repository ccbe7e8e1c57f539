# heavy
# Eager against graph: four modes, outputs checked, and the cost of creating a session.
deepclock compare --quiet --modes --check-outputs --rounds 12 --trial 1ms --trials 2 --save run.json zoo:simplenet > text
[ $? != 1 ] && [ $? != 2 ] && echo "gate"
# The answer has both verdicts, and its table is that of the subjects.
grep -cE '^  outputs: (identical|close)|^  subject ' text
record run.json '[row[0] for row in t("compare/alternatives")["rows"]]' \
	'[row[0] for row in t("compare/startup")["rows"]]' \
	'sorted(x["tag"] for x in r["metrics"] if x["tag"].startswith("compare/ratio/"))' \
	'f("difference", "verdict") in ("identical", "close")' \
	'f("compare", "subject/parallel").startswith("zoo:simplenet --interop-threads=")'
