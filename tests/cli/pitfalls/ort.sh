# heavy
# The real engine: every mistake on a small network, and its text output.
need-ort
deepclock pitfalls --details --quiet --time 100ms --threads 1 --save run.json zoo:simplenet > text 2> notes
echo $?
for key in session-inside inputs-inside profiler-on first-call-in-10; do
	record run.json "m(\"pitfalls/$key\")[\"value\"] > 1"
done
verdicts='[(row[4] or {}).get("value") if isinstance(row[4], dict) else row[4] for row in t("pitfalls/mistakes")["rows"]]'
record run.json 'm("pitfalls/batch-divided")["value"] < 1' \
	'sorted(x["tag"] for x in r["metrics"] if "absent" in x and x["tag"].startswith("pitfalls/") and x["tag"] != "pitfalls/few-for-tail")' \
	"set($verdicts) <= {\"harm\", \"no harm here\", \"not resolved\", \"not measured\"}" \
	"$verdicts.count(\"harm\") == len(t(\"pitfalls/remedies\")[\"rows\"]) > 2"
# The same text from the record.
deepclock report --details run.json > again
grep -c "What harms here" text again
