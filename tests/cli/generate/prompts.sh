# Prompts of a file, as token ids in each form: every length is measured, those of a length in turn.
run() {
	deepclock generate --quiet --engine null --requests 3 --new-tokens 4 --save run.json --prompt-file prompts "$@" zoo:llama_mini > text
	echo $?
}
printf '[1, 529, 77]\n\n5 6\t4095\r\n{"id": [9], "prompt": [8, 2]}\n[4, 4, 4]\n7 7\n' > prompts
run
record run.json '[row[:4] for row in t("generate/lengths")["rows"]]' 'f("generate", "prompts"), f("plan", "prompt-file")'
run --batch 1,2
record run.json '[row[0] for row in t("generate/lengths")["rows"]]'
wrong() {
	printf "$1" > prompts
	run
}
wrong ''
wrong '1 2\nWhat is a clock?\n'
wrong '{"prompt": "What is a clock?"}\n'
wrong '{"text": [1]}\n'
wrong '[[1, 2]]\n'
wrong '[1, "2"]\n'
wrong '[]\n'
wrong '[1] [2]\n'
wrong '[1, 2\n'
wrong '1,2\n'
wrong '1 -2\n'
wrong '[1, -2]\n'
wrong '[1.5]\n'
wrong '1 99999999999999999999\n'
wrong '1\n2 4096\n'
wrong '1 2\0003\n'
python3 -c 'for n in range(1, 18): print("1 " * n)' > prompts
run
run --prompt-length 5
rm prompts
run
