# A GPU's provider that is damaged, is refused its options or finds no driver: one sentence, with the remedy.
. webgpu || exit 77
run() {
	deepclock bench --quiet --runs 3 --warmup 1 "$@" zoo:simplenet 2>&1 | grep '^deepclock: ' | sed "s|$PWD/||g"
}
head -c 1000000 "$DEEPCLOCK_ORT_PROVIDER"/libonnxruntime_providers_webgpu.so > cut.so
echo text > text.so
run --device webgpu --engine-option provider_library=cut.so
run --device webgpu --engine-option provider_library=text.so
run --device gpu --engine-option provider_library=missing.so
run --device webgpu --engine-option ep.webgpuexecutionprovider.preferredLayout=NHCW
run --device webgpu --engine-option ep.webgpuexecutionprovider.preferedLayout=NHWC
run --device gpu:1
DEEPCLOCK_ORT_PROVIDER=/nowhere run --device gpu
VK_DRIVER_FILES=/nowhere VK_ICD_FILENAMES=/nowhere run --device gpu
unset ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER
run --device webgpu | sed 's|([^(]*/libonnx|(libonnx|'
deepclock bench --quiet --device gpu zoo:simplenet 2> text
echo $?
# A tensor that the device cannot hold.
export ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER=1
webgpu-row row.onnx
deepclock bench --quiet --runs 3 --warmup 1 --device webgpu --batch 16384 row.onnx
echo $?
