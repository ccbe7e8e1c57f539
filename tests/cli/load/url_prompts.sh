# Prompts of a file, in turn: lines of text, and JSON lines, of any length; the same text is the same prompt in both forms.
ask="--quiet --url URL/v1/completions --model m --rate 200 --new-tokens 2 --save run.json --prompt-file prompts"
prompts() { # N: different ones that the server got
	with-server log=log -- deepclock load $ask --requests 30 > text 2> err || cat err
	cut -d' ' -f2 log | sort -u | wc -l
	rm log
}
printf 'What is a \\clock\\?\n\n  \nE\303\251 "quoted"\r\n{"id": 1, "prompt": "What is a \\\\clock\\\\?", "x": [{"prompt": 2}]}\n{"text": "third"}' > prompts
prompts
record run.json 'f("load", "prompts")' 'f("load", "prompt_words")'
python3 -c 'import json; print(json.dumps({"prompt": "a b " * 20000})); print("word " * 20000)' > prompts
prompts
record run.json 'f("load", "prompt_tokens") > 20000'
with-server -- deepclock load --quiet --url URL/v1/chat/completions --model m --rate 200 --requests 5 --save run.json \
	--prompt-file prompts > text 2> err
record run.json 'f("load", "chunks")'
# Token ids, which only completions take.
printf '{"prompt": [1, 529]}\n{"prompt": [3, 4]}\n' > prompts
prompts
with-server -- deepclock load --quiet --url URL/v1/chat/completions --model m --rate 200 --requests 5 --prompt-file prompts
# Files that are none.
wrong() {
	printf "$1" > prompts
	with-server -- deepclock load $ask --requests 5
}
wrong ''
wrong '\n\n'
wrong 'a\nb\0c\n'
wrong 'a\n\377\376\n'
wrong '{"prompt": "a"\n'
wrong '{"prompt": 5}\n'
wrong '{"prompt": "a"} {"prompt": "b"}\n'
wrong '{"prompt": "\\x"}\n'
wrong '{"prompt": "\\u12"}\n'
rm prompts
with-server -- deepclock load $ask
mkdir prompts
with-server -- deepclock load $ask
deepclock load $ask --prompt-length 5
with-server -- deepclock load --url URL/v2/models/m/infer --prompt-file x
# Limits of MLPerf.
ask="--quiet --url URL/v1/completions --model m --rate 100 --requests 20 --new-tokens 3 --save run.json"
with-server -- deepclock load $ask --slo mlperf:llama3.1-8b-interactive > text 2> err
record run.json '[row[0] for row in t("load/limits")["rows"]]' 'f("plan", "slo/1") or f("plan", "slo")'
with-server -- deepclock load $ask --slo mlperf:gpt-2
deepclock load zoo:mlp --slo mlperf:llama2-70b
deepclock load $ask --slo 'p50<=1s' --slo 'p51<=1s' --slo 'p52<=1s' --slo 'p53<=1s' --slo 'p54<=1s' --slo 'p55<=1s' --slo 'p56<=1s' --slo mlperf:llama2-70b
