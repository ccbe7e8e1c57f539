# The text output. No value in it is measured.
for model in conv2d matmul simplenet; do
	deepclock cost --details zoo:$model
done
