# heavy
# What an LSTM takes is [time, batch, features]: the items are those of the second axis, whether it is open or not.
need-ort || exit 77
given=
for sizes in 20x8 TxN; do
	onnx-model lstm.onnx << END
input x ${sizes}x4
weight w 1x12x4
weight r 1x12x3
node LSTM x,w,r y,h lstm ai.onnx hidden_size=3
output y
END
	deepclock bench --quiet --no-history --runs 3 --warmup 1 --threads 1 $given --save run.json lstm.onnx > text
	record run.json 'f("subject", "items_from")' \
		'round(m("throughput/items")["value"] * m("latency/median")["value"] / 1e9)'
	given='--dim T=20 --dim N=8'
done
deepclock inspect lstm.onnx --quiet | grep '^next'
deepclock throughput --quiet --no-history --threads 1 --dim T=20 --batch 1,2 --rounds 2 --point-time 20ms --save run.json lstm.onnx > text
record run.json 'f("subject", "kind")' '[row[0] for row in r["tables"][0]["rows"]]'
