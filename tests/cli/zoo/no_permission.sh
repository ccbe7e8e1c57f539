test "$(id -u)" != 0 || { echo "root may write anywhere"; exit 77; }
mkdir locked
chmod 500 locked
deepclock zoo simplenet -o locked/a.onnx
