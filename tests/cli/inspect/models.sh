# Properties of a model, without an engine: a file with open dimensions, a file with missing weights and
# an unknown operator, a built-in network.
onnx-model open.onnx <<'END'
input x batchx3xhxw
input state 2x?x8
weight w 8x3x3x3
node Conv x,w c conv
node Relu c y relu
node Identity state z id
output y
output z
END
deepclock inspect open.onnx
deepclock inspect open.onnx --batch 2 --dim h=32 --save run.json --no-history > text
record run.json 'f("result", "answer")' 'f("result", "next")' 'm("cost/params")["value"]' '[t["name"] for t in r["tables"]]' \
	'[row[0] for row in r["tables"][3]["rows"]]'
onnx-model odd.onnx <<'END'
input x 1x4
external w 4x4
node MatMul x,w m mm
node Florp m y florp my.domain
output y
END
deepclock inspect odd.onnx --quiet
deepclock inspect odd.onnx --save run.json --no-history --quiet > text
record run.json 'note("weights-missing")["severity"]' '[row for t in r["tables"] if t["name"] == "inspect/files" for row in t["rows"]]'
deepclock inspect zoo:simplenet
deepclock inspect zoo:simplenet --format csv | head -3
deepclock inspect missing.onnx
echo $?
deepclock inspect
echo $?
deepclock inspect open.onnx --details | sed -n "/^Inputs/,/^Operators/p"
# The suggested command quotes the name for a shell.
mkdir "my nets" && cp open.onnx "my nets/it's.onnx"
deepclock inspect "my nets/it's.onnx" --batch 1 --shape x=1x3x8x8 | grep '^next'
# A dimension with a long name is left out of the summary, and is in the table.
long=$(printf 'rows_of_the_feature_map_%.0s' 1 2 3 4 5)
{ echo "input x batchx3x8"; echo "node Relu x y relu"; echo "output y batchx3x$long"; } | onnx-model long.onnx
deepclock inspect long.onnx | grep '^  output'
deepclock inspect long.onnx --save run.json --no-history >text
record run.json 'sum("rows_of_the_feature_map_" * 5 in str(row) for t in r["tables"] if t["name"] == "inspect/outputs" for row in t["rows"])'
