# 'help notes' has a row for each note of the table, with its remedy.
deepclock help notes > all
grep -A2 -e '^  busy-neighbours' -e '^  no-warmup' -e '^  slo-violated' all
sed -n 's/^\(NOTE\|NOTE_OWN_REMEDY\)("\([^"]*\)".*/\2/p' "$TESTS/../../src/record/notes.def" > codes
grep -o -e '^  [^ ]*' all > names
wc -l < codes | awk '{print ($1 > 90 ? "many" : "few") " rows"}'
while read -r code; do
	grep -q -x -F -e "  $code" names || echo "no row of $code"
done < codes
