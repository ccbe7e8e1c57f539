# Of a kernel inside another the time belongs to its own operator, and a range without a name inside an operator does not end it.
cat > nested.json <<'JSON'
{"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "outer", "ts": 0, "dur": 10, "pid": 1, "tid": 1, "args": {"External id": 1}},
{"ph": "X", "ts": 2, "dur": 2, "pid": 1, "tid": 1},
{"ph": "X", "cat": "cpu_op", "name": "inner", "ts": 5, "dur": 3, "pid": 1, "tid": 1, "args": {"External id": 2}},
{"ph": "X", "cat": "kernel", "name": "k1", "ts": 10, "dur": 10, "pid": 0, "tid": 7, "args": {"External id": 1}},
{"ph": "X", "cat": "kernel", "name": "k2", "ts": 12, "dur": 2, "pid": 0, "tid": 7, "args": {"External id": 2}},
{"ph": "X", "name": "no time", "dur": 1, "pid": 1, "tid": 1}]}
JSON
deepclock report nested.json
