# A run that fails in the middle: the report of the items before it is retained.
need-ort || exit 77
printf 'input x 1x3\nweight w 2x2\noutput y\nnode Transpose x t\nnode ArgMax t i\nnode Gather w,i y\n' | onnx-model m.onnx
npy x.npy '<f4' 4x3 9 0 0 0 9 0 0 0 9 9 0 0
npy y.npy '<i8' 4 0 1 0 0
deepclock accuracy --details --quiet --labels y.npy --inputs x.npy --save run.json m.onnx > out 2> err
echo "exit $?"
sed 's/predicted: .*;/predicted: WHY;/' err
record run.json 'r["incomplete"]' 'note("engine-failed")["severity"]' 'f("accuracy", "items")' 'm("accuracy/overall")["value"]'
sed -n '/^Classification report/,/weighted avg/p' out
# A failure on the first item: there is nothing to report.
npy x.npy '<f4' 4x3 0 0 9
deepclock accuracy --details --quiet --labels y.npy --inputs x.npy m.onnx > out 2> err
echo "exit $? $(wc -l < err)"
# The second model fails: that item counts for neither model.
printf 'input x 1x3\noutput y\nnode Identity x y\n' | onnx-model first.onnx
printf 'input x 1x3\nweight w 2x3\noutput y\nnode Transpose x t\nnode ArgMax t i\nnode Gather w,i y\n' | onnx-model second.onnx
npy x.npy '<f4' 4x3 9 nan 0 0 9 0 0 nan 9 9 0 0
deepclock accuracy --details --quiet --labels y.npy --inputs x.npy first.onnx second.onnx 2>&1 | grep -o "(NaN): .*, the" | uniq
