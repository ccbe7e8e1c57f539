# The subject fails in the middle: the results until then are retained.
deepclock load --details --quiet --engine null --engine-option fail_at=60 --warmup 5 --rate 2000 --save run.json zoo:simplenet > text
echo $?
record run.json 'r["incomplete"]' 'm("runs/count")["value"]' 'note("engine-failed")["severity"]' 'len(r["series"][0]["values"])'
grep -c INCOMPLETE text
