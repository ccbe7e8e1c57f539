# The same files with the real engine.
need-ort || exit 77
deepclock zoo simplenet -o good.onnx
: > empty.onnx
head -c 200000 good.onnx > truncated.onnx
echo 'this is not a model' > text.onnx
mkdir folder.onnx
truncate -s 4G zeros.onnx
for f in missing empty truncated text folder zeros; do
	echo "$f:"
	deepclock bench --quiet --runs 3 $f.onnx
	echo "exit $?"
done
