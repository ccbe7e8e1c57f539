# The contents of a record; the report printed again from it is the same.
printf '0\n1\n2\n2\n2\n' > y.csv
printf '0\n0\n2\n2\n1\n' > p.csv
for format in text json csv; do
	deepclock accuracy --quiet --labels y.csv --predictions p.csv --digits 3 --format $format --save run.json > printed
	deepclock report run.json --format $format | cmp - printed && echo $format
done
record run.json 'm("accuracy/overall")' 'm("precision/0")["value"]' 'm("recall/2")["value"]' 'm("f1/2")["value"]' \
	'm("support/2")["value"]' 'm("precision/macro")["value"]' 'm("recall/weighted")["value"]' \
	'm("support/macro")["value"]' 'm("precision/micro")' \
	'[(t["name"], len(t["rows"])) for t in r["tables"]]' 'f("accuracy", "items")' 'f("accuracy", "classes")'
# A label with the name of an average.
printf 'macro\nmacro\nb\n' > y.csv
printf 'macro\nb\nb\n' > p.csv
deepclock accuracy --details --quiet --labels y.csv --predictions p.csv --save run.json > text
record run.json 'm("precision/macro")["value"]' 'm("precision/b")["value"]' 'note("label-reserved")["text"]'
