# Each mistake with --device gets one message.
. opencl || exit 77
export XDG_CACHE_HOME="$PWD/cache"
try() {
	deepclock machine --quiet "$@" 2>&1 | sed 's/one of gpu, .*/one of gpu, .../; s/no GPU; .*opencl:0/no GPU; ...; opencl:0/; s/is a processor: .*/is a processor: NAME/'
}
try --device npu
try --device opencl:99 | sed 's/has [0-9]* devices*/has N devices/'
try --device opencl:x
try --device null
try --device opencl --threads 2
try --device opencl --cached-only
try --device opencl --keep
# The only device is the processor, which is not a GPU; on a machine with a GPU this is not tried.
if ls /dev/nvidia0 /dev/kfd >/dev/null 2>&1; then
	echo "deepclock: there is no GPU; ...; opencl:0 is a processor: NAME"
else
	try --device gpu
fi
# Without a driver: what to install.
OCL_ICD_VENDORS=$PWD/none.icd
export OCL_ICD_VENDORS
deepclock machine --quiet --device opencl
echo "exit $?"
