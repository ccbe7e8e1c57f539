# Limits on the quantities of generation, their verdicts and the goodput. Where the system delays the client, it is
# client-bound and nothing is decided.
ask="--quiet --url URL/v1/completions --model m --rate 100 --requests 300 --new-tokens 4 --save run.json"
verdict() { # WORD: or inconclusive, if the client is the bottleneck
	record run.json "f('load', 'verdict') in (('$1',) if note('client-bound') is None else ('inconclusive',))" \
		'[row[0] for row in t("load/limits")["rows"]]' 'note("client-bound") or m("load/goodput")["value"] is not None'
}
with-server ttft=30000 gap=5000 -- deepclock load $ask --slo 'ttft-p90<=10ms' --slo 'tpot-p90<=50s' > text 2> err
verdict violated | sed 's/: .*client.*/: True/'
record run.json 'note("client-bound") or m("load/goodput")["value"] == 0' | sed 's/: .*/: True/'
# A failed request is over every limit.
with-server ttft=30000 every=3 fail=500 -- deepclock load $ask --slo 'ttft-p90<=50s' > text 2> err
verdict violated | sed 's/: .*client.*/: True/'
record run.json 'note("client-bound") or "of 300 requests failed, and no other took longer" in note("slo-violated")["text"]' | sed 's/: .*/: True/'
record run.json 'sum(v == 60e9 for v in s("ttft")["values"])'
# Times that no answer shows decide nothing, and no search.
with-server usage=0 -- deepclock load $ask --slo 'tpot-p90<=1ms' > text 2> err
record run.json 'f("load", "verdict")' 'note("slo-inconclusive")["text"]' 'm("load/goodput")["absent"]' 'm("load/goodput_rate")["absent"]'
with-server usage=0 -- deepclock load --quiet --url URL/v1/completions --model m --find-peak --rate 10 --slo 'tpot-p90<=1ms' 2>&1
# A search: no rate breaks the limit; the higher ones may be more than the server or the client keeps up with.
with-server ttft=2000 -- deepclock load --quiet --url URL/v1/completions --model m --new-tokens 2 --rate 200 --slo 'ttft-median<=20s' \
	--find-peak --time 400ms --max-time 3s --save run.json > text 2> err
record run.json 'len(t("load/steps")["rows"]) > 0' 'm("load/peak_rate")["unit"]' 'set(row[-1] for row in t("load/steps")["rows"]) <= {"met", "inconclusive", "unstable"}'
