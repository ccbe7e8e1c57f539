# Ctrl-C: the completed rounds are reported.
timeout --preserve-status -s INT 4 deepclock compare --details --quiet --engine null --vary engine-option=ns=100000,ns=110000 \
	--rounds 10000 --save run.json zoo:simplenet > text 2> why
echo $?
grep -c INCOMPLETE text
record run.json 'r["incomplete"]' 'note("interrupted")["severity"]' 'len(s("compare/rounds/engine-option=ns=110000")["values"]) > 0'
