# ONNX Runtime GenAI chooses the tokens that deepclock's own loop chooses, also where its model has options that change the
# scores, and its times compare with those.
. genai
genai_model m
for model in ort:m/model.onnx genai:m/genai_config.json; do
	deepclock generate --quiet --threads 1 --engine ${model%%:*} --requests 6 --new-tokens 12 --prompt-length 9 --batch 1,2 \
		--save ${model%%:*}.json ${model#*:} > text
	echo $?
	record ${model%%:*}.json 'f("generate", "first_tokens")' 'm("generate/cache/9x2")["value"]' 'f("generate", "loop")' \
		'f("generate", "end_of_sequence"), f("generate", "cache")' 'f("engine", "threads"), f("engine", "provider")'
done
record genai.json 'm("generate/cache_computed/9x1")["absent"]' 'f("engine", "model_type")'
deepclock compare --quiet --metric generate/tpot/9x1 ort.json genai.json | grep -c tpot
run() {
	deepclock generate --quiet --engine genai "$@" > text
	echo $?
}
run m
run m/model.onnx
run m/genai_config.json --new-tokens 300
run m/genai_config.json --device cuda
run m/genai_config.json --dim batch=1
echo '{' > m/genai_config.json
run m/genai_config.json
echo '{"model": {"vocab_size": 64}}' > m/genai_config.json
run m/genai_config.json 2> err
grep -c '^deepclock: cannot open the model of ' err
DEEPCLOCK_GENAI=/no/such/library run m/genai_config.json
deepclock bench --quiet --engine genai zoo:llama_mini
echo $?
