# A range that no event ends lasts until the last event of its process, which may be a counter's.
cat > open.json << END
[{"ph": "B", "name": "open", "pid": 1, "tid": 1, "ts": 0}, {"ph": "C", "name": "n", "pid": 1, "ts": 500, "args": {"v": 1}},
 {"ph": "B", "name": "other", "pid": 2, "tid": 2, "ts": 0}, {"ph": "E", "pid": 2, "tid": 2, "ts": 900}]
END
deepclock report open.json --format json -o run.json
record run.json '[(row[0], row[1], row[2]) for row in t("zones")["rows"]]'
deepclock report open.json --format folded
