# Limits and comparisons as tests for Jenkins: each outcome, hostile names, a comparison with its exit status.
saved-record a latency/median 100000 99000 101000 > a.json
saved-record b latency/median 300000 299000 301000 > slower.json
saved-record c latency/median 100000 40000 250000 > unknown.json
deepclock compare a.json slower.json --no-history --save 3.json --format junit -o 3.xml
echo "slower: $?"
deepclock compare a.json unknown.json --no-history --save 4.json > out 2> why
echo "undecided: $?"
sed 's/"incomplete": false/"incomplete": true/' a.json > stopped.json
# Characters that XML does not allow, markup and a line break.
saved-record 'a<b&"c">]]>\u0001\u000b\uffff \n.' latency/median 1 1 1 | sed 's/\\\\u/\\u/g; s/\\\\n/\\n/g' > hostile.json
junit 3.xml
deepclock report a.json 3.json 4.json stopped.json hostile.json --format junit > all.xml
junit all.xml
echo -- of a program that was observed
saved-record run counter/page-faults 7 - - result/exit_status=3 > ended.json
saved-record run counter/page-faults 7 - - result/exit_status=3 plan/time=1000000 > enough.json
saved-record 'naïve' counter/page-faults 7 - - result/exit_status=0 > well.json
deepclock report ended.json enough.json well.json --format junit > programs.xml
junit programs.xml
grep -c 'naïve' programs.xml
