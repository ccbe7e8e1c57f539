# Usual sizes: of several, the one with which a table of positions fits; a size named c of images is of channels.
try() {
	onnx-model net.onnx
	deepclock inspect net.onnx | grep ^next
}
printf 'input x Bxseqx16\nweight p 1x77x16\noutput y\nnode Add x,p y\n' | try
printf 'input x Nxhxwxc\nweight p 384x384x3\noutput y\nnode Add x,p y\n' | try
