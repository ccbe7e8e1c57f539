# No option without effect: --by, --sort and --top where a file has no operators with costs.
cat > trace.json <<'EOF'
[{"name": "aten::mm", "ph": "X", "ts": 0, "dur": 20, "tid": 1, "pid": "CPU functions", "args": {}},
 {"name": "aten::add", "ph": "X", "ts": 30, "dur": 10, "tid": 1, "pid": "CPU functions", "args": {}},
 {"name": "aten::add", "ph": "X", "ts": 50, "dur": 10, "tid": 1, "pid": "CPU functions", "args": {}},
 {"name": "aten::t", "ph": "X", "ts": 70, "dur": 5, "tid": 1, "pid": "CPU functions", "args": {}}]
EOF
for by in module type class; do
	deepclock report trace.json --by $by --top 2 || echo "exit $?"
done
deepclock report trace.json --top 2
deepclock report trace.json --sort name
deepclock report trace.json --top 2 --figures pictures || echo "exit $?"
# A PyTorch without Kineto writes neither memory nor shapes, whatever was asked for.
deepclock report trace.json --format json | grep -o "did not record memory[^\"]*"
deepclock report trace.json --input-shapes --details | grep -A3 "^warning"
