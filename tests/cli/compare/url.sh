# Two servers get the same prompts, each once, and the slower one is found. Where the system delays the client, nothing is decided.
ask="--quiet --model m --new-tokens 4 --rounds 20 --max-time 50s --save run.json"
with-server as=ONE ttft=1000 gap=15000 log=one -- with-server as=TWO ttft=60000 gap=15000 log=two -- \
	deepclock compare $ask --url ONE/v1/completions --url TWO/v1/completions > text 2> err
case $? in 3 | 4) echo slower or undecided ;; esac
record run.json 'f("compare", "verdict") in ("slower", "undecided")' \
	'[row[0] for row in t("compare/servers")["rows"]]' 'f("compare", "prompts")' 'f("method", "pairs") + f("method", "pairs_lost")' \
	'len(s("compare/pairs/ttft/A")["values"]) == f("method", "pairs"), min(s("compare/pairs/ttft/B")["values"]) >= 60e6' \
	'sorted(x["tag"] for x in r["metrics"] if x["tag"].startswith("compare/"))' \
	'(lambda a, b: min(b) > 10e6 and min(a) >= 1e6)(s("compare/pairs/ttft/A")["values"], s("compare/pairs/ttft/B")["values"])'
cut -d' ' -f2 one | sort > first
cut -d' ' -f2 two | sort > second
cmp first second && sort -u first | wc -l
rm one two
# A pair whose answer came in one read has no TPOT and does not count. One server with itself: prompts of its own for each, and other ones in each pair.
with-server ttft=1000 log=one -- deepclock compare $ask --margin 900% --url URL/v1/completions --url URL/v1/completions > text 2> err
case $? in 0 | 4) echo same or undecided ;; esac
record run.json 'f("compare", "verdict") in ("same", "undecided")' 'f("compare", "prompts")'
sort one | uniq -d | wc -l
# Failures count as --timeout, but where both fail; a server without numbers of tokens has no TPOT.
with-server as=ONE every=2 fail=500 -- with-server as=TWO usage=0 -- \
	deepclock compare $ask --timeout 20s --url ONE/v1/completions --url TWO/v1/completions > text 2> err
record run.json '[row[0] for row in t("compare/servers")["rows"]]' 'note("requests-failed")["text"]' \
	'max(s("compare/pairs/ttft/A")["values"]) == 20e9' 'f("method", "pairs")'
# A server that fails more often is worse, whatever its times are.
with-server as=ONE ttft=30000 -- with-server as=TWO every=2 fail=500 -- \
	deepclock compare $ask --url ONE/v1/completions --url TWO/v1/completions > text 2> err
echo $?
record run.json 'f("result", "answer").split(";")[0]' 'f("compare", "gate")' 'r["notes"][0]["code"]'
grep -c 'warning: 0 requests to A and 10 to B failed' text
with-server as=ONE every=2 fail=500 -- with-server as=TWO every=2 fail=cut -- \
	deepclock compare $ask --url ONE/v1/completions --url TWO/v1/completions > text 2> err
record run.json 'f("method", "pairs") + f("method", "pairs_lost")' 'f("compare", "failed/A")' 'f("compare", "failed/B")' 'f("method", "pairs_lost") >= 10'
# A cached chat template is no news.
with-server as=ONE cached=4 -- with-server as=TWO cached=100 -- \
	deepclock compare $ask --rounds 12 --url ONE/v1/completions --url TWO/v1/completions > text 2> err
record run.json 'note("prefix-cache")["text"].split(":")[0]'
# Ordinary models, and credentials.
printf 'X-Key: hush-hush\n' > headers
with-server as=ONE -- with-server as=TWO ttft=50000 -- deepclock compare --quiet --rounds 20 --save run.json --header-file headers \
	--url ONE/v2/models/m/infer --url TWO/v2/models/m/infer > text 2> err
record run.json '[row[0] for row in t("compare/servers")["rows"]]' 'f("compare", "verdict") in ("slower", "undecided")' \
	'f("compare", "inputs"), f("compare", "prompts")'
grep -l hush run.json text err
# Mistakes.
deepclock compare --url http://127.0.0.1:1/v1/completions --model m
deepclock compare --url http://127.0.0.1:1/v1/completions --url http://127.0.0.1:1/v1/completions --model m zoo:mlp
deepclock compare --url http://127.0.0.1:1/v1/completions --url http://127.0.0.1:1/v1/completions --model m --threads 1
deepclock compare --url http://127.0.0.1:1/v1/completions --url http://127.0.0.1:1/v1/completions --model m --setup true
deepclock compare --url http://127.0.0.1:1/v1/completions --url http://127.0.0.1:1/v1/completions --model a --model b --model c
deepclock compare --model m zoo:mlp zoo:mlp
deepclock compare --url http://127.0.0.1:1/v1/completions --url http://127.0.0.1:1/v1/completions
with-server -- deepclock compare --url URL/v1/completions --url http://127.0.0.1:1/v1/completions --model m
deepclock compare --url http://127.0.0.1:1/v2/models/m/infer --url http://127.0.0.1:1/v2/models/m/infer --new-tokens 4
with-server -- deepclock compare --quiet --url URL/v1/completions --url URL/v2/models/m/infer --model m
