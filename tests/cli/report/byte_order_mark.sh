# A trace and a record that begin with a byte order mark are read without it.
printf '\357\273\277[{"ph": "X", "name": "marked", "ts": 0, "dur": 5, "pid": 1, "tid": 1}]' > trace.json
deepclock report trace.json --save run.json | grep '^  marked'
{ printf '\357\273\277'; cat run.json; } > marked.json
deepclock report marked.json | grep '^  marked'
