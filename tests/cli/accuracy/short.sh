# The default: a summary sentence and the classes, at most 15 lines.
printf '0\n1\n2\n2\n2\n' > y.csv
printf '0\n0\n2\n2\n1\n' > p.csv
deepclock accuracy --labels y.csv --predictions p.csv --target-names cat,dog,shirt
deepclock accuracy --labels y.csv --predictions p.csv --target-names cat,dog,shirt | wc -l
# Of many classes, the report shows those with the lowest recall.
seq 0 19 > y.csv
seq 0 16 > p.csv; printf '0\n0\n0\n' >> p.csv
deepclock accuracy --labels y.csv --predictions p.csv | head -12
need-ort || exit 0
printf 'input x 2x3\noutput y\nnode Neg x y\n' | onnx-model a.onnx
printf 'input x 2x3\noutput y\nnode Abs x y\n' | onnx-model b.onnx
deepclock accuracy --quiet a.onnx a.onnx | sed -n 2p
deepclock accuracy --quiet a.onnx b.onnx 2> err | sed -n 2p | sed 's/[0-9][0-9.e+]*/N/g'
deepclock accuracy --quiet a.onnx b.onnx 2> err | wc -l
