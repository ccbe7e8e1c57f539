# heavy
# Shaders are compiled in the first run, which may take longer than all runs of a row; the row is measured all the same.
. webgpu || exit 77
deepclock pitfalls --details --quiet --time 20ms --device webgpu --save run.json zoo:simplenet --only first-call-in-10 > text
echo $?
record run.json 'm("pitfalls/first-call-in-10")["value"] > 3' 'r["incomplete"]'
