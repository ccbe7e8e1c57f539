# A server that answers one request after the other, at half of the rate at which they come: the first line says so, whatever
# the client does. One whose answers take longer than the schedule is not behind.
ask="--quiet --url URL/v1/completions --model m --requests 40 --new-tokens 2 --save run.json"
with-server serial=1 ttft=35000 -- deepclock load $ask --rate 60 > text 2> err
echo $?
sed -n 's/requests.s the server .*/requests\/s the server .../p; /client-bound/s/.*/  unstable: .../p' text | head -n 1 | sed 's/of [0-9.]*/of N/'
record run.json 'note("client-bound") is not None or note("unstable")["remedy"].startswith("lower --rate")' \
	'note("client-bound") is not None or 0 < float(note("unstable")["text"].split("answered ")[1].split()[0]) <= 29' \
	'[row[:2] for row in t("load/outcomes")["rows"]]'
with-server serial=1 ttft=35000 -- deepclock load $ask --rate 60 --slo 'ttft-p90<=60s' > text 2> err
record run.json 'f("load", "verdict") == ("violated" if note("client-bound") is None else "inconclusive")'
with-server ttft=1000000 -- deepclock load $ask --rate 60 > text 2> err
record run.json 'note("unstable")' 'f("method", "stop")'
