# heavy
# An A/A comparison first, on the real engine: its noise floor is reported, and no verdict claims a smaller difference.
deepclock compare --quiet --aa --rounds 12 --margin 400% --save run.json zoo:simplenet zoo:simplenet > text
echo $?
record run.json 'f("compare", "verdict")' 'f("compare", "aa_verdict")' 'f("compare", "aa_rounds")' \
	'f("method", "rounds")' 'm("compare/resolution")["value"] >= 0' \
	'[row[0] for row in t("compare/alternatives")["rows"]]'
