deepclock bench --quiet --engine otr zoo:simplenet
echo $?
deepclock bench --quiet --engine null --engine-option florp=1 zoo:simplenet
echo $?
deepclock bench --quiet --engine null --engine-option florp zoo:simplenet
echo $?
deepclock bench --quiet --engine null --cpus 0-florp zoo:simplenet
echo $?
