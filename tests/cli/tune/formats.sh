# The same result as text, JSON, CSV and HTML; a full disk is reported.
printf 'sleep_ns=1000000\n' > space.txt
common="--quiet --engine null --engine-option sleep_ns=3000000 --space space.txt --trial 10ms --max-time 5s"
deepclock tune $common --format json --html run.html zoo:simplenet > run.json 2> /dev/null
echo $?
record run.json 'r["tables"][0]["name"]'
grep -q 'tune/front' run.html && echo html
deepclock report run.json --format csv | grep -q tune/front && echo csv
deepclock tune --details $common --save run2.json zoo:simplenet > text
deepclock report --details run2.json > again
cmp text again && echo same
deepclock tune --details $common zoo:simplenet > /dev/full
echo $?
deepclock tune --details $common --save no/folder/run.json zoo:simplenet > text
echo $?
