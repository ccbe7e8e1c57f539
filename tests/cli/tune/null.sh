# The null engine takes the time that is requested: the shortest wins, and outputs cannot be compared.
printf '# of the null engine\nsleep_ns=2000000,16000000,8000000\n' > space.txt
deepclock tune --quiet --engine null --engine-option sleep_ns=24000000 --space space.txt --trial 60ms \
	--max-time 45s --save run.json zoo:simplenet > text
echo $?
sed -n '2s/ is .*//p' text
record run.json 'f("tune", "configuration")' 'f("tune", "command")' 'm("tune/speedup")["lo"] > 1' \
	'm("tune/speedup")["lo"] <= m("tune/speedup")["value"] <= m("tune/speedup")["hi"]' \
	'm("tune/error").get("value")' '[t["name"] for t in r["tables"]]' \
	'[c["key"] for c in r["tables"][0]["columns"]]' 'r["tables"][0]["rows"][0][0]' \
	'sorted(row[0] for row in r["tables"][1]["rows"])' 'f("space", "sleep_ns")' 'f("method", "pairs") >= 6' \
	'r.get("incomplete", False)' 'note("outputs-not-compared")["severity"]' \
	'note("tune-apply")["text"].split(";")[0]' 'f("engine", "name")'
