# A decoder: MACs and bytes are formulas of the batch, the new tokens and those in the cache alone.
deepclock zoo llama_mini --symbolic -o m.onnx
deepclock cost --quiet m.onnx --format json > run.json
record run.json 'm("cost/macs")' 'm("cost/params")["value"]' 'm("cost/read_bytes")' 'm("cost/write_bytes")'
# The same with sizes: 4 layers, each 2 products of 256 numbers with 1,024 keys, and the weights.
deepclock cost --quiet m.onnx --dim batch_size=4 --dim sequence_length=1 --dim past_sequence_length=1023 --format json > run.json
record run.json 'm("cost/macs")["value"] == 4 * (2048 * 1024 + 3817472)'
