# Every third request fails in some way: it is counted as what it is, and the others are not affected. The first request is
# the client's probe.
ask="--quiet --url URL/v1/completions --model m --rate 200 --requests 30 --new-tokens 8 --save run.json"
for fail in 429 500 close cut noend abort error notjson json empty redirect gigabytes garbage; do
	with-server every=3 fail=$fail close=$([ $fail = close ] && echo 1 || echo 0) -- deepclock load $ask > text 2> err
	echo $fail $?
	record run.json '[row[:2] for row in t("load/outcomes")["rows"]]' 'note("requests-failed")["text"].split("the first: ")[1]' \
		'len(s("latency")["values"])' 'sum(v == 60e9 for v in s("latency")["values"])' 'm("load/ttft/p99")["absent"] != ""' | sed 's/^[^:]*: //'
done
# A server that never ends its streams with a finish_reason or [DONE]: the end of the body is that of the answer.
with-server fail=noend -- deepclock load $ask > text 2> err
record run.json '[row[:2] for row in t("load/outcomes")["rows"]]' 'note("end-unmarked")["text"].split(":")[0]'
# No deviation of a failed request is in an interval.
with-server every=3 fail=500 -- deepclock load $ask > text 2> err
record run.json 'm("latency/mad").get("hi", 0) <= max(v for v in s("latency")["values"] if v < 60e9)'
# Most fail: the deviation from a median that is a failed one's is absent, and the smallest is of the answered. (Of a client
# that is late on a busy machine all are absent.)
with-server every=2 fail=500 -- deepclock load $ask --requests 31 > text 2> err
record run.json '"absent" in m("latency/median") and "absent" in m("latency/mad")' \
	'm("latency/min").get("how") in (None, "smallest of the 15 answered")'
# A server that counts more tokens than were requested.
with-server usage=1000 -- deepclock load $ask > text 2> err
record run.json '[row[:2] for row in t("load/outcomes")["rows"]]' 'note("tokens-more")["text"]'
# A server that died after the first request: the streams wait longer and longer before they connect again, 7 or 8 times in a second.
with-server dies=1 -- deepclock load --quiet --url URL/v1/completions --model m --streams 2 --time 1s --save run.json > text 2> err
record run.json '[(row[0], 2 <= row[1] <= 16) for row in t("load/outcomes")["rows"]]'
# A connection that was used before may be closed at any time: a request that got no byte of an answer is sent once more.
ask="--quiet --url URL/v1/completions --model m --streams 1 --requests 10 --new-tokens 4 --save run.json"
with-server every=3 fail=close -- deepclock load $ask > text 2> err
record run.json '[row[:2] for row in t("load/outcomes")["rows"]]' 'f("load", "resent")'
with-server silent=1 -- deepclock load $ask > text 2> err
record run.json '[row[:2] for row in t("load/outcomes")["rows"]]'
# A status that comes before the request is sent, which is longer than the system's buffers.
python3 -c 'print("short"); print("long" * 1500000)' > prompts
with-server most=100000 -- deepclock load $ask --prompt-file prompts > text 2> err
record run.json '[row[:2] for row in t("load/outcomes")["rows"]]'
# The client cannot open as many connections as are in flight: no failure of the server.
with-server ttft=400000 -- sh -c 'ulimit -n 40; exec deepclock load --quiet --url URL/v1/completions --model m --rate 200 --requests 60 \
	--new-tokens 4 --save run.json' > text 2> err
record run.json 'note("client-bound")["text"].split(";")[0]' 'm("load/ttft/median")["absent"]'
# Requests of the warm-up that fail, the last one among them.
with-server every=5 fail=500 -- deepclock load $ask --warmup 4 > text 2> err
record run.json 'note("warmup-failed")["text"].split(";")[0]' 'm("runs/warmup")["value"]'
# All fail: the rate of answers is 0.
with-server dies=1 -- deepclock load --quiet --url URL/v1/completions --model m --requests 1 --slo 'p99<=1s' --save run.json > text 2> err
record run.json 'f("result", "answer")' 'm("load/achieved_rate")["value"]' 'm("load/goodput_rate")["value"]'
