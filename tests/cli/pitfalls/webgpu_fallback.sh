# heavy
# An operator in the middle of the model is left to the processor: the Relu of two products.
. webgpu || exit 77
deepclock pitfalls --details --quiet --time 20ms --margin 0 --device webgpu --save run.json zoo:simplenet --only cpu-fallback > text
echo $?
record run.json 'm("pitfalls/cpu-fallback")["value"] > 0' 'm("pitfalls/cpu-fallback").get("absent")'
