# heavy
# Measured once, cached (on a busy machine too), shown again; --refresh measures again.
export XDG_CACHE_HOME="$PWD/cache"
deepclock machine --details --cached-only
echo $?
deepclock machine --details --quiet --save first.json --keep > text
echo $?
grep -c '^Peaks\|^Bandwidth\|^Overheads' text
record first.json 'r["incomplete"]' 'f("machine", "source")' 'note("not-cached")'
ls cache/deepclock | sed 's/-[0-9a-f]*\./-KEY./'
deepclock machine --quiet --format json > second.json
deepclock machine --cached-only --quiet --format json > third.json
deepclock report cache/deepclock/machine-*.json --format json > file.json
record second.json 'r == load("third.json") == load("file.json")' 'r["id"] == load("first.json")["id"]' \
	'r["metrics"] == load("first.json")["metrics"]'
record second.json 'f("machine", "source")'
deepclock machine --quiet --refresh --threads 1 --format json > other.json
record other.json 'f("machine", "source")' 'f("machine", "threads")'
# The summary has the date, and its memory bandwidth is that of the table's last row.
deepclock machine --quiet --cached-only > brief
sed 's/[0-9-]\{10\} [0-9:]\{5\}/DATE/' brief | grep measured
awk '/memory read at/ {sub(/.*read at /, ""); head = $1; giga = $2 == "GB/s"} /read, GB/ {row = $NF} END {print !giga || head == row ? "same rate" : head " " row}' brief
grep -c 'int8, GOP/s' brief
