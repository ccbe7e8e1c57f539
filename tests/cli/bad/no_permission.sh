test "$(id -u)" != 0 || { echo "root may read anything"; exit 77; }
deepclock zoo simplenet -o locked.onnx
chmod 000 locked.onnx
deepclock bench --quiet locked.onnx
