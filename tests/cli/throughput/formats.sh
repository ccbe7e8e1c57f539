# The same result as text, JSON and CSV; a full disk is reported.
common="--quiet --engine null --engine-option sleep_ns=1000000 --batch 1,2 --point-time 20ms --rounds 2"
deepclock throughput $common --format json zoo:simplenet > run.json 2> /dev/null
echo $?
record run.json 'r["tables"][0]["name"]'
deepclock throughput $common --format csv zoo:simplenet 2> /dev/null | grep -c throughput/points
deepclock throughput --details $common --save run2.json zoo:simplenet > text
deepclock report --details run2.json > again
cmp text again && echo same
deepclock throughput --details $common zoo:simplenet > /dev/full
echo $?
deepclock throughput --details $common --save no/folder/run.json zoo:simplenet > text
echo $?
