# Nothing here is a model, and each gets one sentence.
deepclock zoo simplenet -o good.onnx
: > empty.onnx
head -c 200000 good.onnx > truncated.onnx
echo 'this is no model' > text.onnx
head -c 5000 /dev/urandom > random.onnx
mkdir folder.onnx
truncate -s 4G zeros.onnx
for f in missing empty truncated text random folder zeros; do
	echo "$f:"
	deepclock bench --quiet --runs 3 --engine null $f.onnx > out 2> err
	echo "exit $?, $(wc -l < err) line"
	test $f = random || cat err
	cat out
done
