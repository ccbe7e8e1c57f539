deepclock bench --quiet --engine null zoo:resnet81
echo $?
deepclock bench --quiet --engine null zoo:
echo $?
deepclock bench --quiet --engine null --image-size 7 zoo:simplenet
echo $?
