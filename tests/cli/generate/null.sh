# An engine that does nothing for a known time: no tokens are known, the times are at least that long.
deepclock generate --quiet --engine null --engine-option sleep_ns=1000000 --requests 20 --new-tokens 8 \
	--prompt-length 16,32 --batch 1,2 --save run.json zoo:llama_mini > text
echo $?
record run.json '[row[0] for row in t("generate/lengths")["rows"]]' 'm("generate/ttft/16x1")["value"] >= 1e6' \
	'm("generate/tpot/32x2")["value"] >= 1e6' 'm("generate/e2e/16x2")["value"] >= 8e6' 'm("generate/cache_computed/32x2")["value"]' \
	'f("generate", "tokens_asked"), f("generate", "tokens_delivered"), f("generate", "end_of_sequence")' \
	'f("plan", "new-tokens"), f("plan", "batch")' 'sorted(s["tag"] for s in r["series"])'
grep -c 'the first token comes in' text
# Answers of another length are not compared.
deepclock generate --quiet --engine null --requests 6 --new-tokens 9 --prompt-length 16 --save other.json zoo:llama_mini > text
deepclock compare --quiet --metric generate/ttft/16x1 run.json other.json 2>&1 | grep -o 'new-tokens.*' | head -n 1
