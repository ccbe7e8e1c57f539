# heavy
# The default and a value violate the limit on the median: both are marked, and another value is the answer.
printf 'sleep_ns=60000000,1000000\n' > space.txt
deepclock tune --quiet --engine null --engine-option sleep_ns=80000000 --space space.txt --trial 400ms --slo 'p50<=40ms' \
	--max-time 30s --save run.json zoo:simplenet > text
test $? -ne 3 && echo ended
record run.json 'f("tune", "configuration")' 'f("tune", "verdict_default")' 'f("tune", "verdict") in ("met", "inconclusive")' \
	'[c["title"] for c in t("tune/front")["columns"]][-1]' \
	'{row[0]: row[6] for row in t("tune/configurations")["rows"]}' 'note("configuration-violates")["text"]'
# None meets it: the answer is the default, and the exit status that of a violated limit.
deepclock tune --quiet --engine null --engine-option sleep_ns=80000000 --space space.txt --trial 300ms --slo 'max<=0.5ms' \
	--max-time 12s --save run.json zoo:simplenet > text
echo $?
sed -n '2,3p' text
record run.json 'f("tune", "verdict")' 'note("slo-not-met")["severity"]'
