# Options that a file for other programs would not have are refused, and leave the old file as it is.
printf 'main;a 0.5\nmain;b 0.3\n' > run.folded
echo old > x.folded
deepclock report run.folded --callers a -o x.folded
echo $?
cat x.folded
deepclock report run.folded --by function --format pprof
echo $?
printf '{"traceEvents":[{"ph":"X","name":"f","pid":1,"tid":1,"ts":0,"dur":5}]}' > t.json
deepclock report --diff t.json t.json --format chrome
echo $?
# The answer has the fractions that weights without a unit may have.
deepclock report run.folded | sed -n 2p
# A name of a cost is one event of callgrind.
printf '{"version":0,"costs":[{"description":"Bytes allocated","unit":"bytes"}],"functions":[{"name":"f"}],"events":[{"callchain":[0],"cost":[100]}]}' > g.json
deepclock report g.json --format callgrind | grep ^events
# Older collectors of Prometheus refuse a quotation mark in a help.
printf '{"schema":1,"deepclock":"1","id":"a","facts":[{"section":"subject","key":"name","value":"a \\"b\\""}],"metrics":[{"tag":"precision/5\\"","value":0.5,"unit":"1"}]}' > m.json
deepclock report m.json --format openmetrics | grep 5
