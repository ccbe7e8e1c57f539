# Each interval that has less than its nominal coverage is marked, with the reason, in every format.
cat >r.json <<'X'
{"schema": 1, "deepclock": "0.1.0", "id": "0123456789abcdef0123456789abcdef", "began": "2026-11-21T04:50:12Z",
 "facts": [{"section": "subject", "key": "name", "value": "m.onnx"}],
 "metrics": [
  {"tag": "latency/median", "value": 17624011.0, "unit": "ns", "lo": 17546120.0, "hi": 17706100.0, "level": 0.95, "narrow": "the level changes more slowly than so few runs can show", "how": "order statistics"},
  {"tag": "latency/mean", "value": 18624011.0, "unit": "ns", "lo": 18546120.0, "hi": 18706100.0, "level": 0.95, "narrow": "a handful of long runs carries the mean", "how": "mean"},
  {"tag": "latency/p90", "value": 19624011.0, "unit": "ns", "lo": 19546120.0, "hi": 19706100.0, "level": 0.95, "how": "order statistics"},
  {"tag": "throughput/items", "value": 56.7, "unit": "items/s", "lo": 56.5, "hi": 56.9, "level": 0.95, "narrow": "the level changes more slowly than so few runs can show", "how": "items"},
  {"tag": "runs/count", "value": 300, "unit": "1"}]}
X
deepclock report r.json
deepclock report r.json --details
deepclock report r.json -f markdown
deepclock report r.json -f csv | tr -d '\r'
deepclock report r.json -f json | grep -c '"narrow": '
echo "-- beside a record without latencies"
sed 's/"0123/"1123/; s/m.onnx/other/; /latency/d' r.json > other.json
deepclock report r.json other.json -f markdown | grep 'row 1\|^\*\*'
echo "-- one of two is incomplete: it is named"
sed 's/"0123/"2123/; s/m.onnx/cut/; s/"facts"/"incomplete": true, "notes": [{"severity": "error", "code": "interrupted", "text": "interrupted in process 3 of 5"}], "facts"/' r.json > cut.json
deepclock report r.json cut.json -f markdown | grep '^\*\*'
