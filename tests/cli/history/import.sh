deepclock bench --quiet --runs 3 --warmup 0 --save run.json --no-history -- true > text
deepclock history import run.json --commit 1234
deepclock history show last --format json | cmp - run.json && echo the same bytes
deepclock history list --format csv | tail -1 | cut -d, -f8
echo -- files that are none
echo 'no record' > bad
deepclock history import bad
deepclock history import missing.json
deepclock history import .
: > empty
deepclock history import empty
sed 's/"schema": 1/"schema": 99/' run.json > newer.json
deepclock history import newer.json
sed 's/"incomplete": false/"incomplete": true/' run.json > other.json
deepclock history import other.json
echo -- the others are added all the same
sed 's/"id": "[^"]*"/"id": ""/' run.json > no_id.json
sed 's/"id": "../"id": "zz/' run.json > third.json
deepclock history import no_id.json third.json
echo "exit $?"
echo -- the lines before a bad one stay
{ history-lines 3; echo '{"schema": 1}'; history-lines 9; } > lines
deepclock history import lines
deepclock history list --format csv | wc -l
echo -- any name of a branch
mkdir .git
echo 'ref: refs/heads/fix#12/größe (2)' > .git/HEAD
deepclock bench --quiet --runs 3 --warmup 0 --save run.json -- true > text
deepclock history export --limit 1 > line
grep -o '"branch":"[^"]*"' line
deepclock history import line --db other.db
deepclock history export --db other.db | cmp - line && echo the same
