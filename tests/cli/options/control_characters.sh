# What would steer a terminal is not sent to one.
deepclock bench "$(printf 'a\033[31mb\nc.onnx')" 2> err
echo $?
wc -l < err
tr -d '\n' < err | tr '\000-\037' '!' | grep -q '!' || echo harmless
