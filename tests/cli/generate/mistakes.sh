run() {
	deepclock generate --quiet "$@" > text
	echo $?
	cat text
}
run
run zoo:florp
run there_is_no.onnx
run zoo:resnet18 --engine null
run zoo:bert_mini --engine null
run zoo:llama_mini --engine null --prompt-length 0
run zoo:llama_mini --engine null --prompt-length x
run zoo:llama_mini --engine null --batch 1,
run zoo:llama_mini --engine null --batch 1000000 --new-tokens 1000
run zoo:llama_mini --engine null --prompt-length 2000000
run zoo:llama_mini --engine null --new-tokens 0
run zoo:llama_mini --engine null --requests 5 --time 1s
run zoo:llama_mini --engine null --requests 3 --new-tokens 2 --engine-option fail_at=1
run zoo:llama_mini --engine null --seq 5
run zoo:llama_mini --engine null --shape input_ids=1x5
run zoo:llama_mini --engine null --transfers include
run zoo:llama_mini --engine null --items 4
run zoo:llama_mini --engine null --dim florp=5
deepclock zoo llama_mini --layers 1 --hidden 16 --heads 2 --kv-heads 1 --vocabulary 64 -o fixed.onnx
run fixed.onnx --engine null
deepclock zoo llama_mini --heads 3 -o x.onnx
echo $?
deepclock zoo llama_mini --kv-heads 3 -o x.onnx
echo $?
deepclock zoo llama_mini --layers 1000 --hidden 8192 --heads 64 -o x.onnx
echo $?
deepclock zoo resnet18 --layers 2 -o x.onnx
echo $?
deepclock zoo gpt_mini --kv-heads 2 -o x.onnx
echo $?
deepclock zoo gpt_mini --past 1024 -o x.onnx
echo $?
run zoo:gpt_mini --engine null --prompt-length 8,1020 --new-tokens 16
# A cache of keys and values together, as GPTBigCode has it.
onnx-model joined.onnx <<-END
	input input_ids BxS int64
	input past_key_values.0.key_value BxPx8
	output logits
	output present.0.key_value
	node Cast input_ids logits - - to=1
	node Identity past_key_values.0.key_value present.0.key_value
END
run joined.onnx --engine null
