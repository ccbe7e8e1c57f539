# Configurations that fail, hang or need too much memory are rows, not the end.
printf 'fail_at=1,3\nsleep_ns=4000000,3600000000000\n' > space.txt
deepclock tune --quiet --engine null --engine-option sleep_ns=8000000 --space space.txt --trial 30ms \
	--max-time 45s --save run.json zoo:simplenet > text
echo $?
record run.json 'f("tune", "configuration")' \
	'{row[0]: (row[5], row[7]) for row in t("tune/configurations")["rows"] if row[5] in ("failed", "too slow")}' \
	'sum(n["code"] == "configuration-failed" for n in r["notes"])'
# The default fails: there is nothing to compare with.
deepclock tune --quiet --engine null --engine-option fail_at=1 --space space.txt zoo:simplenet
echo $?
deepclock tune --quiet --engine null --engine-option sleep_ns=600000000 --space space.txt --max-time 200ms zoo:simplenet
echo $?
deepclock tune --quiet --engine null --space space.txt --max-memory 1kB --max-time 10s zoo:simplenet 2>&1 |
	sed 's/it had .* of/it had SIZE of/'
