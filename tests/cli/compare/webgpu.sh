# heavy
# CPU or GPU: a GPU in software is the slower at every batch, with and without the transfers.
. webgpu || exit 77
webgpu-row row.onnx
deepclock compare --quiet --vary device=cpu,webgpu --over batch=1,8 --rounds 12 --trials 1 --keep-sessions --save run.json row.onnx > text
echo $?
sed -n '2,3p' text
record run.json 'f("compare", "verdict/batch=1")' 'f("compare", "verdict/batch=8")' \
	'[x["absent"] for x in r["facts"] if x["key"] == "crossover"]' 'm("compare/crossover")["absent"]'
deepclock compare --quiet --vary device=cpu,webgpu --transfers include --rounds 12 --trials 1 --keep-sessions --batch 4 --save run.json row.onnx > text
echo $?
record run.json 'f("compare", "verdict")' 'm("compare/ratio")["lo"] > 1'
