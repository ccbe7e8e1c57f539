# A server that answers one request after the other, at half of the rate at which they come: the first line has both rates, unless the
# client was delayed. One whose answers take longer than the schedule is not overloaded.
ask="--quiet --url URL/v1/completions --model m --arrivals constant --rate 60 --new-tokens 2 --save run.json"
with-server serial=1 ttft=35000 -- deepclock load $ask --requests 80 > text 2> err
echo $?
grep -q -e '^  unstable: of .* requests/s the server answers' -e '^  client-bound' text || cat text
record run.json 'note("client-bound") is not None or note("unstable")["remedy"].startswith("lower --rate")' \
	'note("client-bound") is not None or 0 < float(note("unstable")["text"].split("answered ")[1].split()[0]) <= 29' \
	'[row[:2] for row in t("load/outcomes")["rows"]]'
with-server ttft=1000000 -- deepclock load $ask --requests 40 --slo 'ttft-p90<=60s' > text 2> err
record run.json 'note("unstable")' 'f("method", "stop")'
