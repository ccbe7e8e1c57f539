# On a GPU the tokens are those of the CPU, and each step's time contains its run, not its enqueueing.
. webgpu || exit 77
deepclock zoo llama_mini --symbolic --layers 1 --hidden 16 --heads 2 --kv-heads 1 --vocabulary 64 -o m.onnx
for device in cpu gpu; do
	deepclock generate --quiet --device $device --requests 1 --warmup 0 --new-tokens 4 --prompt-length 9 --batch 2 \
		--save $device.json m.onnx > text
	echo $?
	record $device.json 'f("generate", "first_tokens")' 'f("engine", "provider")' 'm("generate/cache_computed/9x2")["value"]' \
		'm("generate/cache/9x2")' 'f("generate", "cache")' 'f("device", "barrier")'
done
