# Streams of a server with known delays: every request is counted, and no time is shorter than what was injected. A client
# that other programs delay reports no metrics of latency, but all times are in the series.
ask="--quiet --url URL/v1/completions --model m --rate 100 --requests 40 --new-tokens 12 --save run.json"
check() {
	record run.json '[row[:2] for row in t("load/outcomes")["rows"]]' 'm("runs/count")["value"]' 'm("load/failed")["value"]' \
		'len(s("ttft")["values"]), len(s("latency")["values"])' 'f("load", "chunks")' "$@"
}
# The end is TTFT and TPOT for each further token after the scheduled time; an answer that came in one read has no TPOT.
same='all(math.isclose(a + tpot[at] * 11, c, rel_tol=1e-6) for at, a, c in zip(s("ttft")["at_ns"], s("ttft")["values"], s("latency")["values"]) for tpot in [dict(zip((s("tpot") or {"at_ns": []})["at_ns"], (s("tpot") or {"values": []})["values"]))] if at in tpot)'
# Three tokens in a chunk, characters that are cut between chunks of HTTP, a first event without content.
with-server ttft=20000 gap=5000 role=1 utf8=1 per=3 log=log -- deepclock load $ask > text 2> err
echo $?
check 'min(s("ttft")["values"]) >= 20e6' 'min(s("latency")["values"]) >= 35e6' 'f("load", "tokens_delivered")' \
	'f("load", "prompt_tokens")' 'math.isclose(m("load/tokens")["value"], 12 * m("load/achieved_rate")["value"])' "$same" 'min(s("client_late")["values"]) >= 0' 'f("load", "scenario")' 'f("subject", "kind")' \
	'(m("load/client_rate")["value"] > 0, m("load/client_floor")["value"] > 0)' \
	'[row[0] for row in (t("load/times") or {"rows": [["started"], ["sent"], ["first byte"], ["first event"], ["first content"], ["end"]]})["rows"]]' \
	'(lambda x: x == sorted(x))([row[1] for row in (t("load/times") or {"rows": []})["rows"]])' \
	'("client-bound" in m("load/ttft/median").get("absent", "")) == (note("client-bound") is not None)'
# The first request is the client's probe. No prompt was sent twice, and none again in another run.
wc -l < log
sort -u log | wc -l
with-server log=log -- deepclock load $ask > text 2> err
sort -u log | wc -l
# Chat, byte by byte.
with-server ttft=1000 role=1 utf8=1 slices=1 -- deepclock load --quiet --url URL/v1/chat/completions --model m --rate 40 \
	--requests 20 --new-tokens 4 --save run.json > text 2> err
echo $?
check 'f("load", "protocol")'
# A stall before a chunk; slow headers; a connection for each request; no [DONE].
with-server ttft=1000 stall_at=6 stall=50000 -- deepclock load $ask > text 2> err
check 'min(s("latency")["values"]) >= 51e6'
with-server head=30000 close=1 done=0 -- deepclock load $ask > text 2> err
check 'min(s("ttft")["values"]) >= 30e6'
# A closed loop of four connections.
with-server ttft=10000 -- deepclock load --quiet --url URL/v1/completions --model m --streams 4 --requests 40 --new-tokens 12 \
	--save run.json > text 2> err
check 'f("load", "scenario")' 'note("coordinated-omission")["severity"]' 'm("load/in_flight_max")["value"]' 'set(s("client_late")["values"])'
# A server that refuses fields of the request is asked without them.
with-server refuse=ignore_eos -- deepclock load $ask > text 2> err
check 'f("load", "end_of_sequence")' 'm("runs/warmup")["value"]'
with-server refuse=include_usage -- deepclock load $ask > text 2> err
check 'f("load", "end_of_sequence")' 'note("tokens-unknown")["severity"]' 'm("load/tokens")["absent"]' 's("tpot")'
# Answers that are shorter than requested.
with-server stop=5 -- deepclock load $ask > text 2> err
check 'note("stopped-early")["text"].split(";")[0]' 'f("load", "tokens_delivered")' 'f("load", "end_of_sequence")'
# Prompts of which the server's cache had parts, and prompts that share a part.
with-server cached=100 -- deepclock load $ask > text 2> err
check 'note("prefix-cache")["text"].split(":")[0]' 'f("load", "cached_tokens")'
with-server cached=64 -- deepclock load $ask --shared-prefix 0.5 > text 2> err
check 'note("prefix-cache")' 'f("load", "cached_tokens")'
