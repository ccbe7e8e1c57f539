deepclock bench --quiet --engine otr zoo:simplenet
echo $?
deepclock bench --quiet --engine null --engine-option florp=1 zoo:simplenet
echo $?
deepclock bench --quiet --engine null --engine-option florp zoo:simplenet
echo $?
deepclock bench --quiet --engine null --cpus 0-florp zoo:simplenet
echo $?
# No engine but ONNX Runtime's has a level of optimisation: one that is given is not ignored.
deepclock bench --quiet --engine null --opt none zoo:simplenet
echo $?
