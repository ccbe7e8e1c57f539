# The same bytes by every way of output, no other file, nothing on stdout.
deepclock zoo simplenet -o a.onnx && deepclock zoo zoo:simplenet --output=b.onnx
deepclock zoo simplenet -o - > c.onnx
deepclock zoo simplenet --seed 7 -o d.onnx
cmp a.onnx b.onnx && cmp a.onnx c.onnx && echo same
cmp -s a.onnx d.onnx || echo another seed, another file
umask 027
echo old > e.onnx
deepclock zoo simplenet -o e.onnx && cmp a.onnx e.onnx && echo replaced
ln -s e.onnx link.onnx
deepclock zoo two_layer -o link.onnx && test -h link.onnx && echo still a link
ls
