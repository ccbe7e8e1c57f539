need-ort || exit 77
# Tokens that are chosen greedily are the same again, by both engines' loop; the cache has the computed size.
deepclock zoo llama_mini --symbolic --layers 2 --hidden 64 --heads 4 --kv-heads 2 --vocabulary 512 -o m.onnx
deepclock generate --quiet --threads 1 --requests 6 --new-tokens 12 --prompt-length 5 --save run.json m.onnx > text
echo $?
deepclock generate --quiet --threads 1 --requests 6 --new-tokens 12 --prompt-length 5 --save again.json m.onnx > text
record run.json 'len(f("generate", "first_tokens").split())' 'm("generate/cache/5x1")["value"], m("generate/cache_computed/5x1")["value"]' \
	'm("generate/tpot/5x1")["value"] > 0' 'len(r["series"][0]["values"])'
record run.json 'f("generate", "first_tokens")' > tokens
record again.json 'f("generate", "first_tokens")' | cmp - tokens && echo same
deepclock generate --quiet --requests 6 --new-tokens 4 --prompt-length 5 --html run.html --format json m.onnx > run2.json
grep -q 'generate/lengths' run.html && echo html
deepclock report run2.json --format csv | grep -q 'generate/ttft/5x1' && echo csv
deepclock report run2.json --details | grep -c 'Generation by prompt length and batch'
