# Subjects of known duration: the verdict, the exit status for a gate, and the record.
busy() {
	deepclock compare --details --quiet --engine null --vary "engine-option=$1" --rounds 15 --margin 10% \
		--save run.json zoo:simplenet > text
	echo "exit status $?"
	record run.json 'f("compare", "verdict")' 'f("compare", "gate")'
	grep '^  verdict' text
}
busy ns=200000,ns=300000
record run.json '1.3 < m("compare/ratio")["value"] < 1.7' \
	'm("compare/ratio")["lo"] <= m("compare/ratio")["value"] <= m("compare/ratio")["hi"]' \
	'len(s("compare/rounds/engine-option=ns=200000")["values"]) == 15' 'm("compare/resolution")["value"] >= 0'
busy ns=300000,ns=200000
