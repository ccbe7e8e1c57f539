need-ort || exit 77
deepclock zoo simplenet --symbolic -o net.onnx
deepclock bench --quiet --runs 3 --warmup 0 --dim bacth=2 net.onnx
echo $?
deepclock bench --quiet --runs 3 --warmup 0 --dim batch=-1 net.onnx
echo $?
deepclock bench --quiet --runs 3 --warmup 0 --shape input=2x785 net.onnx
echo $?
deepclock bench --quiet --runs 3 --warmup 0 --shape input=2xtall net.onnx
echo $?
deepclock bench --quiet --runs 3 --warmup 0 --shape inptu=2x784 net.onnx
echo $?
deepclock bench --quiet --runs 3 --warmup 0 --shape input=2x784 net.onnx > out
echo $?
