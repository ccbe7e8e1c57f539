# A list of records, as --format json writes several, is read as if each had a file; other lists are refused.
# PNG needs librsvg.
deepclock() {
	command deepclock "$@" 2> errors
	set -- $?
	grep -v '^deepclock: no PNG, only SVG: ' errors >&2
	return "$1"
}
saved-record a latency/median 100000 99000 101000 > a.json
saved-record a latency/median 200000 199000 201000 engine/threads=4 > more.json
saved-record a latency/median 300000 299000 301000 engine/name=openvino > other.json
deepclock report a.json more.json other.json a.json --format json > all.json
echo '-- as files'
deepclock report all.json | sed 's/report all.json //; s/: deepclock --/: --/' > list.txt
deepclock report a.json more.json other.json a.json | cmp - list.txt
deepclock report - --format csv < all.json | cut -d, -f1-4 | sort | uniq -c | sed 's/^ *//'
deepclock report all.json --format json | cmp - all.json
deepclock report all.json other.json --figures pictures && ls pictures/records.svg
deepclock view all.json --no-browser -o page.html > /dev/null && grep -c '<!doctype html>' page.html
echo '-- names'
deepclock report all.json --format junit -o all.xml
junit all.xml
deepclock report all.json --format bencher
echo '-- refused'
echo '[{"a": 1}]' > objects.json
echo '[]' > none.json
printf '[%s, {"schema": 1}]' "$(cat a.json)" > second.json
for f in objects none second; do
	deepclock report $f.json 2>&1
	deepclock view $f.json --no-browser 2>&1
done
deepclock report all.json --save one.json 2>&1
deepclock report all.json --diff other.json 2>&1
deepclock compare all.json a.json 2>&1
