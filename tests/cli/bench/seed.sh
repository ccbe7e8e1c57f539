# One --seed reaches the plan and the inputs.
deepclock bench --quiet --seed 7 --runs 3 --warmup 0 --engine null --format json zoo:simplenet > run.json
record run.json '[x["value"] for x in r["facts"] if x["key"] == "seed"]'
