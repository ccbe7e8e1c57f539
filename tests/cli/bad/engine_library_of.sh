# A library for one engine by its name leaves the others alone; the last one that names it counts.
deepclock bench --quiet --engine null --engine-lib ort:./missing.so --runs 3 zoo:simplenet > text
echo $?
deepclock bench --quiet --engine-lib ort:./missing.so zoo:simplenet
echo $?
deepclock bench --quiet --engine-lib ort:./one.so --engine-lib openvino:./two.so --engine-lib ort:./three.so zoo:simplenet
echo $?
deepclock compare --quiet --engine null --vary engine=null,openvino --engine-lib openvino:./missing.so zoo:simplenet
echo $?
