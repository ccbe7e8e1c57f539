mkdir locked
chmod 500 locked
unprivileged deepclock zoo simplenet -o locked/a.onnx
