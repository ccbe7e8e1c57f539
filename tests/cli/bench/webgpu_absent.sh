# The missing component is named, with the command that installs it.
need-ort || exit 77
DEEPCLOCK_ORT_PROVIDER=/nowhere/lib.so deepclock bench --device webgpu zoo:simplenet
echo $?
deepclock bench --device webgpu --engine-option provider_library=/nowhere/other.so zoo:simplenet
echo $?
deepclock bench --device webgpu:x zoo:simplenet
echo $?
deepclock bench --device cpu --engine-option provider_library=/nowhere/lib.so zoo:simplenet
echo $?
deepclock bench --transfers include --engine null zoo:simplenet
echo $?
