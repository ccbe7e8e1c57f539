# A well-formed model that the engine rejects. The engine's message follows ours.
need-ort || exit 77
deepclock zoo simplenet -o net.onnx
sed -i 's/Gemm/Gemn/g' net.onnx
deepclock bench --quiet net.onnx 2> err
echo "exit $?, $(wc -l < err) line"
grep -o -m 1 'Gemn' err | head -n 1
cut -c 1-44 err
