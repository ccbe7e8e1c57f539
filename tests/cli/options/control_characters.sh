# Terminal control characters are not sent to a terminal.
deepclock bench "$(printf 'a\033[31mb\nc.onnx')" 2> err
echo $?
wc -l < err
tr -d '\n' < err | tr '\000-\037' '!' | grep -q '!' || echo harmless
