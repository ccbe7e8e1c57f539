# heavy
# The real engine: several concurrent contexts of one session, in open and closed loops.
need-ort || exit 77
deepclock load --details --quiet --threads 1 --streams 4 --requests 4000 --warmup 10 --save run.json zoo:simplenet > text
echo $?
record run.json 'm("runs/count")["value"]' 'f("engine", "name")' 'len(r["tables"][0]["rows"])'
deepclock load --details --quiet --threads 1 --streams 2 --rate 2000 --time 500ms --warmup 10 --input-pool 3 --save run.json zoo:simplenet > text
echo $?
record run.json '700 < m("runs/count")["value"] < 1300' 'm("load/utilisation")["value"] > 0'
deepclock load --details --quiet --threads 1 --find-peak --slo 'median<=5s' --confidence 90% --precision 50% \
	--time 1s --save run.json zoo:simplenet > text
echo $(($? == 0 || $? == 4))
record run.json 'len([t for t in r["tables"] if t["name"] == "load/steps"][0]["rows"]) > 0'
