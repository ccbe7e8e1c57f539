# None of these files is a model; each gets one message.
deepclock zoo simplenet -o good.onnx
: > empty.onnx
head -c 200000 good.onnx > truncated.onnx
echo 'this is not a model' > text.onnx
tail -c 5000 good.onnx > weights.onnx
mkdir folder.onnx
truncate -s 4G zeros.onnx
for f in missing empty truncated text weights folder zeros; do
	echo "$f:"
	deepclock bench --quiet --runs 3 --engine null $f.onnx > out 2> err
	echo "exit $?, $(wc -l < err) line"
	cat err
	cat out
done
