# Open dimensions stay symbolic in formulas until they are given.
onnx-model net.onnx <<'END'
input x BATCHx3xHEIGHTx32
weight w 8x3x3x3
output y
node Conv x,w c conv
node Relu c y relu
END
deepclock cost --details net.onnx
echo $?
try() {
	echo "- $*"
	deepclock cost net.onnx --format json "$@" > run.json
	echo $?
	test -s run.json && record run.json 'm("cost/macs").get("value", m("cost/macs").get("absent"))' \
		'm("cost/macs").get("formula")' 'r["ops"][0]["outputs"][0]["shape"]' 'note("cost-unknown") is None'
}
try
echo '--- read again; and a record that has the reason alone'
deepclock report --details run.json | grep '^  MACs  '
sed 's/, "formula": "[^"]*"//' run.json > old.json
deepclock report --details old.json | grep '^  MACs  '
try --dim BATCH=4
try --dim BATCH=4 --dim HEIGHT=34
try --batch 4 --dim HEIGHT=34
try --shape x=4x3x34x32
try --shape x=4x3x2x32
try --dim LENGTH=3
try --dim BATCH
try --dim BATCH=4x
try --shape z=1x2
try --shape x=1x2
try --shape x=1x3x34x33
