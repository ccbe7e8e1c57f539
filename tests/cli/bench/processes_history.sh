# Earlier starts in the history belong to a record of one process, not to each of several.
export DEEPCLOCK_DB=$PWD/h.db
for i in 1 2; do deepclock bench --quiet --runs 20 --warmup 2 --engine null --save one.json zoo:simplenet > text; done
grep -c 'between starts' text
deepclock bench --quiet --processes 2 --runs 20 --warmup 2 --engine null --save two.json zoo:simplenet > text
record one.json 'm("latency/starts")["level"]' 'f("method", "starts")'
record two.json 'any(m["tag"] == "latency/starts" for m in r["metrics"])' 'f("method", "processes")'
# Whether a value lies where earlier ones of the same kind do is said of several processes too.
for i in 1 2; do deepclock bench --quiet --processes 2 --runs 20 --warmup 2 --engine null --save two.json zoo:simplenet > text; done
grep -c -E '(among|above all|below all) 2 earlier ones' text
record two.json 'any(m["tag"] == "latency/starts" for m in r["metrics"])' 'f("history", "earlier")' 'f("history", "earlier_least") <= f("history", "earlier_greatest")'
