# The same result as text, JSON and CSV; a full disk is reported.
common="--quiet --engine null --engine-option sleep_ns=1000000 --warmup 2 --requests 30 --rate 200"
deepclock load $common --format json zoo:simplenet > run.json 2> /dev/null
echo $?
record run.json 'r["tables"][0]["name"]'
deepclock load $common --format csv zoo:simplenet 2> /dev/null | grep -c load/summary
deepclock load --details $common --save run2.json zoo:simplenet > text
deepclock report --details run2.json > again
cmp text again && echo same
deepclock load --details $common zoo:simplenet > /dev/full
echo $?
deepclock load --details $common --save no/folder/run.json zoo:simplenet > text
echo $?
