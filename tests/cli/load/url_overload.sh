# A server that answers one request after the other, at half of the rate at which they come: the first line has both rates, unless the
# client was delayed. One whose answers take longer than the schedule is not overloaded.
ask="--quiet --url URL/v1/completions --model m --arrivals constant --rate 60 --new-tokens 2 --save run.json"
with-server serial=1 ttft=35000 -- deepclock load $ask --requests 80 > text 2> err
echo $?
grep -q -e '^  unstable: of .* requests/s the server answers' -e '^  client-bound' text || cat text
record run.json 'note("client-bound") is not None or (note("unstable")["remedy"].startswith("lower --rate") and "--streams" not in note("unstable")["text"])' \
	'note("client-bound") is not None or 0 < float(note("unstable")["text"].split("answered ")[1].split()[0]) <= 29' \
	'[row[:2] for row in t("load/outcomes")["rows"]]'
# A limit that its answers exceed is violated.
with-server serial=1 ttft=35000 -- deepclock load $ask --requests 80 --slo 'ttft-p90<=100ms' > text 2> err
echo $? > code
grep -q -e '^  ttft-p90<=100ms: violated at 60 requests/s: .* requests/s arrive, ' -e '^  client-bound' text || cat text
record run.json '(int(open("code").read()), f("load", "verdict")) == ((3, "violated") if note("client-bound") is None else (4, "inconclusive"))' \
	'note("client-bound") is not None or "grows without bound" in note("slo-violated")["text"]'
# A search does not go on above such a rate, and ends with its time.
with-server serial=1 ttft=20000 -- deepclock load --quiet --url URL/v1/completions --model m --rate 200 --time 1s --new-tokens 2 \
	--slo 'median<=300ms' --find-peak --confidence 80% --max-time 4s --save run.json > text 2> err
record run.json '[c["key"] for c in t("load/steps")["columns"]]' \
	'set(row[-1] for row in t("load/steps")["rows"] if row[0] >= 200) <= {"unstable", "inconclusive"}' \
	'"unstable" not in [row[-1] for row in t("load/steps")["rows"] if row[0] == 200] or max(row[0] for row in t("load/steps")["rows"]) == 200'
with-server ttft=1000000 -- deepclock load $ask --requests 40 --slo 'ttft-p90<=60s' > text 2> err
record run.json 'note("unstable")' 'f("method", "stop")'
# One request at a time is refused by status 429: at a lower rate it may not be, and the search goes on.
with-server every=3 fail=429 ttft=5000 -- deepclock load --quiet --url URL/v1/completions --model m --rate 100 --time 1s --new-tokens 2 \
	--slo 'p90<=300ms' --find-peak --confidence 80% --max-time 4s --save run.json > text 2> err
record run.json 't("load/steps") is not None'
