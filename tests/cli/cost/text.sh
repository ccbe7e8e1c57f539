# What people see. None of it is measured.
for model in conv2d matmul simplenet; do
	deepclock cost --details zoo:$model
done
