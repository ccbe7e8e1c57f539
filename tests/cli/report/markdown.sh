# Two records are one table, and a hostile name is escaped; listings of the program have this format too.
deepclock bench --quiet --runs 20 --warmup 2 --save one.json -- true > /dev/null
sed 's/"key": "name", "value": "true"/"key": "name", "value": "a|b <x> *c*"/' one.json > two.json
deepclock report one.json two.json --format markdown > both
grep -c '^| Subject .* Relative |$' both
sed -n '3,$s/\([^\\]|\).*/\1/p' both | sed 's/ *|$//'
deepclock zoo --format markdown resnet18
deepclock bench --quiet --no-history --runs 20 --warmup 2 --format markdown -- true | grep -c '^|'
echo "-- a comparison is named by all its subjects"
saved-record one compare/ratio 1 0.9 1.1 'compare/subjects=one, two' > cmp.json
deepclock report cmp.json --format markdown | head -n 1
deepclock report one.json -o one.md && head -c 10 one.md
