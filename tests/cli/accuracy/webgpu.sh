# Outputs of a GPU compared with outputs of the CPU.
. webgpu || exit 77
deepclock accuracy --quiet --save run.json zoo:simplenet --vary device=cpu,webgpu > text
echo $?
record run.json 'm("difference/max_abs")["value"] < 1e-4' 'm("difference/cosine")["value"] > 0.999'
grep -c 'outputs agree' text
