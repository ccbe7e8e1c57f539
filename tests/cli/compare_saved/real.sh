# Records of the real engine, measured here: any verdict, with its matching exit status.
need-ort || exit 77
for name in a b; do
	deepclock bench --details --quiet zoo:simplenet --threads 1 --processes 3 --max-time 100ms --warmup 20 \
		--save $name.json > /dev/null
done
deepclock compare a.json b.json --format json > run.json 2> notes
code=$?
record run.json 'f("compare", "verdict") in ("faster", "slower", "same", "undecided")' \
	'm("compare/ratio")["value"] > 0' '"one-process" in [n["code"] for n in r["notes"]]' \
	'"not-interleaved" in [n["code"] for n in r["notes"]]'
record run.json '{"regressed": 3, "undecided": 4, "not worse": 0}[f("compare", "gate")]' > gate
grep -q ": $code\$" gate && echo "the exit status is the gate's"
# Threads are a setting: the output names both values.
deepclock bench --details --quiet zoo:simplenet --threads 2 --runs 200 --warmup 20 --save c.json > /dev/null
deepclock compare a.json c.json --format json > run.json 2> notes
record run.json '[row[0] for row in r["tables"][0]["rows"]]' '"settings-differ" in [n["code"] for n in r["notes"]]' \
	'"one-process" in [n["code"] for n in r["notes"]]'
deepclock compare --details a.json a.json 2> notes | grep -o same-record
deepclock compare c.json c.json --statistic min | grep -o 'there is no interval: the .* run '
