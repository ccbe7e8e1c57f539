# A trace in formats of other programs: by --format, or by the extension of -o.
zone-program || exit
deepclock trace --no-waits -o run.pftrace.gz --save run.json -- ./program > /dev/null
stacks() { sed 's/[0-9]\{2,\}/N/g' "$1"; }
deepclock report run.pftrace.gz --format folded > by_format.folded
deepclock report run.pftrace.gz -o by_ending.folded
cmp by_format.folded by_ending.folded && stacks by_ending.folded
deepclock report run.pftrace.gz --format rows | sed -n 1p
for form in perfetto chrome speedscope pprof callgrind pstats; do
	deepclock report run.pftrace.gz --format $form -o out.$form && test -s out.$form && echo "$form written"
done
# report reads the files that it writes; compressed on request.
for name in again.pftrace again.pftrace.gz; do
	deepclock report run.pftrace.gz -o $name
	deepclock report $name --format folded | cmp - by_format.folded && echo "$name is the same"
done
gzip -t again.pftrace.gz && echo "and compressed"
deepclock report run.pftrace.gz -o out.speedscope.json
python3 -c 'import json; print(json.load(open("out.speedscope.json"))["$schema"])'
deepclock report run.pftrace.gz -o out.json.gz && gzip -cd out.json.gz | python3 -c 'import json, sys
print(sorted({e["ph"] for e in json.load(sys.stdin)["traceEvents"]}))'
# A plain .json is the record, as in other commands.
deepclock report run.pftrace.gz -o table.json
record table.json 'r["tables"][0]["name"]'
# The answer names a zone, not the bucket of the names that are too many.
cat > names.json <<'END'
[{"ph": "X", "name": "(other names)", "ts": 0, "dur": 1500, "pid": 1, "tid": 1},
 {"ph": "X", "name": "step", "ts": 2000, "dur": 500, "pid": 1, "tid": 1}]
END
deepclock report names.json | sed -n 2,3p
# A truncated file.
head -c 300 run.pftrace.gz > cut.pftrace.gz
deepclock report cut.pftrace.gz --format chrome -o cut.json
echo $?
# Mistakes.
deepclock report run.json --format chrome
echo $?
deepclock report run.pftrace.gz run.json --format chrome
echo $?
deepclock report run.pftrace.gz -o out.pstats.gz
echo $?
