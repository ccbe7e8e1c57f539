# Other programs moved the median: the first screen has the undisturbed runs, and of how many starts they are.
for starts in 5 6; do
	saved-record a latency/median 300e3 299e3 301e3 and:latency/undisturbed:90e3:89.9e3:90.1e3 method/processes=6 \
		samples/undisturbed=31 samples/undisturbed_of=244 samples/undisturbed_starts=$starts |
		sed 's/"metrics": \[/&{"tag": "runs\/count", "value": 244, "unit": "1"}, /' > a.json
	deepclock report a.json | grep 'their processors'
done
