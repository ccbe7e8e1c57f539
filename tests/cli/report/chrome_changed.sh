# Ranges of a file in JSON that are not in the result as in the file: a note states them, or a warning where it is converted.
python3 - <<'END'
import json
events = [{"ph": "X", "name": "back", "pid": 1, "tid": 1, "ts": 5, "dur": -2}]
events += [{"ph": "X", "name": "word", "pid": 1, "tid": 1, "ts": 6, "dur": "soon"}]
# 70 ranges of one thread, each of which ends after the next has begun and before the next ends
events += [{"ph": "X", "name": "over", "pid": 1, "tid": 2, "ts": 100 + 20 * i, "dur": 2000} for i in range(70)]
json.dump({"traceEvents": events}, open("changed.json", "w"))
END
deepclock report changed.json --quiet --save run.json > out
record run.json '[n["text"] for n in r["notes"] if n["code"] == "trace-ranges-changed"]'
deepclock report changed.json --format csv 2>&1 | grep 'zones/.*\(calls\|min\|max\)'
deepclock report changed.json --format folded 2>&1 > folded
