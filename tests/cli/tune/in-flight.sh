# heavy
# Requests in flight are an option of --goal throughput: runs that sleep overlap.
printf 'in-flight=2,4\n' > space.txt
deepclock tune --quiet --engine null --engine-option sleep_ns=20000000 --space space.txt --goal throughput --trial 200ms \
	--max-time 30s --save run.json zoo:simplenet > text
echo $?
record run.json 'f("tune", "configuration")' 'f("tune", "command")' 'm("tune/speedup")["lo"] > 1' \
	'sorted(row[0] for row in t("tune/effects")["rows"])'
# The command that it names runs.
$(python3 -c 'import json; print([f["value"] for f in json.load(open("run.json"))["facts"] if f["key"] == "command" and f["section"] == "tune"][0])') \
	--quiet --time 200ms > text
echo $?
