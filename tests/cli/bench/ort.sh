need-ort || exit 77
deepclock bench --quiet --max-time 500ms --max-warmup 500ms --threads 1 --save run.json zoo:simplenet > text
echo $?
record run.json 'f("engine", "name")' 'm("runs/count")["value"] >= 50' 'm("latency/median")["value"] > 0' \
	'm("latency/median").get("lo", 0) <= m("latency/median")["value"] <= m("latency/median").get("hi", 1e99)' \
	'm("time/session")["value"] > 0' 'm("time/first_run")["value"] > 0'
grep -q median text && echo reported
