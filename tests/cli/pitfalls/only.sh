# Only some mistakes, or all except some; csv has a row for each.
deepclock pitfalls --quiet --time 20ms --engine null --engine-option ns=100000 --only one-sample,no-warmup \
	--format csv zoo:simplenet 2> notes | grep -o '"pitfalls/[a-z0-9-]*"'
echo
all=$(deepclock pitfalls --list --format csv | sed 1d | cut -d, -f1 | grep -v -e one-sample -e coarse-clock | paste -sd,)
deepclock pitfalls --quiet --time 20ms --engine null --engine-option ns=100000 --skip "$all" --save run.json \
	zoo:simplenet > text 2> notes
echo $?
record run.json '[x["tag"] for x in r["metrics"] if x["tag"].startswith("pitfalls/")]' \
	'm("pitfalls/coarse-clock")["value"] != 1' 'f("plan", "time")'
