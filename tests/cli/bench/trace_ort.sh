# A real engine: each run has all of its executed operators, and no operator is outside a run.
need-ort || exit 77
deepclock bench --quiet --threads 1 --runs 20 --warmup 5 --trace run.pftrace --save run.json zoo:simplenet > /dev/null
echo $?
record run.json 'f("trace", "runs")' 'f("trace", "operators") == 2 * f("trace", "profiled_runs")' \
	'f("trace", "operators_uncertainty") > 0' 'f("trace", "profiled_ratio") > 0' 'f("trace", "moved_events")' \
	'[r["trees"][0]["frames"][r["trees"][0]["nodes"][n[0]][1]]["name"] for n in r["trees"][0]["nodes"] if "Gemm" in r["trees"][0]["frames"][n[1]]["name"]]'
deepclock report run.pftrace --format csv | grep -c '"zones/.*Gemm.*/calls'
