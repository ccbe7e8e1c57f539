deepclock zoo simplenet -o locked.onnx
chmod 000 locked.onnx
unprivileged deepclock bench --quiet locked.onnx
