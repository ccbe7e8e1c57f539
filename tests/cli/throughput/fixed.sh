# A file with a fixed batch is rebatched, and its outputs are compared once; a symbolic batch is searched directly.
need-ort || exit 77
deepclock zoo simplenet -o fixed.onnx
deepclock zoo simplenet --symbolic -o open.onnx
deepclock throughput --quiet --batch 1,4 --point-time 30ms --rounds 2 --threads 1 --save run.json fixed.onnx > text
echo $?
record run.json 's("batch/by_batch")["values"]' 'f("subject", "rebatched")' \
	'len([n for n in r["notes"] if n["code"] == "rebatched"])'
# The outputs depend on all items: only the batch that it has can be measured.
onnx-model depends.onnx <<end
input x 2x8
node ReduceMax x m
node Sub x,m y
output y ?
end
for batch in 2 4; do
	deepclock throughput --quiet --batch $batch --point-time 30ms --rounds 2 --save run.json depends.onnx > text
	echo $?
done
record run.json 's("batch/by_batch")["values"]'
deepclock throughput --quiet --shape input=4x784 open.onnx
echo $?
deepclock throughput --quiet --batch-dim florp open.onnx
echo $?
for option in --threads=1 --batch-dim=batch; do
	deepclock throughput --quiet --batch 2,8 --point-time 30ms --rounds 2 --threads 1 $option --save run.json \
		open.onnx > text
	echo $?
	record run.json 's("batch/by_batch")["values"]' 'm("throughput/best_batch")["value"]' \
		'all(row[6] > 0 for row in r["tables"][0]["rows"])' 'f("subject", "name")'
done
