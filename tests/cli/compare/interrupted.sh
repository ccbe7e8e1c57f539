# Ctrl-C: the completed rounds are reported.
timeout --preserve-status -s INT 4 deepclock compare --details --quiet --engine null --vary engine-option=ns=100000,ns=110000 \
	--rounds 10000 --save run.json zoo:simplenet > text 2> why
echo $?
grep -c INCOMPLETE text
record run.json 'r["incomplete"]' 'note("interrupted")["severity"]' 'len(s("compare/rounds/engine-option=ns=110000")["values"]) > 0'
# In the first of several sizes too.
timeout --preserve-status -s INT 4 deepclock compare --quiet --engine null --vary engine-option=ns=100000,ns=110000 --over batch=1,8 --processes 1 --trial 1ms \
	--rounds 10000 --save over.json zoo:simplenet > text 2> why
echo $?
record over.json 'r["incomplete"]' '[row[:2] for row in t("compare/over")["rows"]]'
