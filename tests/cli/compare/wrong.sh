# A fast but wrong model does not win: another seed has other weights.
deepclock zoo simplenet -o a.onnx --seed 1
deepclock zoo simplenet -o b.onnx --seed 2
deepclock compare --quiet --check-outputs --rounds 6 --save run.json a.onnx b.onnx > text 2> why
echo $?
grep -c "differs from the reference" why
record run.json 'f("difference", "verdict")' 'note("outputs-differ")["severity"]' 'f("compare", "verdict") != ""'
