# How it is known whether the server's cache had parts of prompts: the answers' usage, the server's counters, prompts sent twice.
ask="--quiet --url URL/v1/completions --model m --rate 100 --requests 30 --new-tokens 3 --save run.json"
look() {
	record run.json 'f("load", "cache_evidence")' 'f("load", "cached_share")' 'note("prefix-cache")' 'note("cache-found")' \
		'm("load/repeated_ratio") is None' \
		'f("load", "cached_tokens")' | sed 's/; switch .*//'
}
with-server cached=100 -- deepclock load $ask > text 2> err
look
# vLLM's counters and SGLang's, where the usage lacks it; 129 words are a prompt.
with-server cached=100 details=0 metrics=vllm -- deepclock load $ask > text 2> err
look
with-server details=0 metrics=sglang -- deepclock load $ask > text 2> err
look
with-server cached=64 details=0 metrics=vllm -- deepclock load $ask --shared-prefix 0.5 > text 2> err
record run.json 'note("prefix-cache")'
# Neither: prompts are sent twice. A server with a cache answers the second one sooner, by far.
with-server ttft=150000 cache=1000 details=0 -- deepclock load $ask > text 2> err
record run.json 'f("load", "cache_evidence")' 'f("load", "cached_share")' 'm("load/repeated_ratio")["value"] < 1' \
	'(note("cache-found") is not None) == (m("load/repeated_ratio")["hi"] < 0.95)'
with-server ttft=20000 usage=0 log=log -- deepclock load $ask > text 2> err
record run.json 'f("load", "cache_evidence")' 'm("load/repeated_ratio")["value"] > 0' \
	'(note("cache-found") is not None) == (m("load/repeated_ratio")["hi"] < 0.95)'
sort log | uniq -d | wc -l
# A file whose prompts were sent before shows no cache: random ones are sent twice instead.
printf 'one\ntwo\n' > prompts
with-server ttft=150000 cache=1000 details=0 log=log2 -- deepclock load $ask --prompt-file prompts > text 2> err
record run.json 'f("load", "cache_evidence")' 'm("load/repeated_ratio")["value"] < 1' \
	'note("cache-found") is None or "several times" in str(note("cache-found"))'
cut -d' ' -f2 log2 | sort -u | wc -l
with-server cached=1 -- deepclock load $ask --prompt-file prompts > text 2> err
record run.json 'note("prefix-cache")["text"].split(", ")[2].split(":")[0]'
# Nothing is sent twice to a server that answered none of the requests.
with-server every=2 fail=500 log=log3 -- deepclock load $ask --requests 1 > text 2> err
record run.json 'f("load", "cache_evidence")' 'm("load/repeated_ratio")'
wc -l < log3
