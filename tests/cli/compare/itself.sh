# heavy
# A against itself first, on the real engine: the floor is told, and no verdict claims less.
deepclock compare --quiet --aa --rounds 12 --margin 400% --save run.json zoo:simplenet zoo:simplenet > text
echo $?
record run.json 'f("compare", "verdict")' 'f("compare", "aa_verdict")' 'f("compare", "aa_rounds")' \
	'f("method", "rounds")' 'm("compare/resolution")["value"] >= 0' \
	'[row[0] for row in t("compare/alternatives")["rows"]]'
