# Files that are not records: one message each.
deepclock bench --quiet --runs 3 --warmup 0 --save good.json -- true > out
: > empty.json
printf '{"schema": 1, "deepclock": "0' > truncated.json
echo '[1, 2]' > list.json
echo '{"schema": 1}' > bare.json
sed 's/"schema": *1/"schema": 999/' good.json > newer.json
mkdir folder.json
python3 -c 'print("[" * 100000)' > deep.json
for f in missing empty truncated list bare newer folder deep; do
	echo "$f:"
	deepclock report $f.json
	echo "exit $?"
done
deepclock report good.json missing.json
deepclock report missing.json --format chrome
deepclock report missing.json --percentiles p50
