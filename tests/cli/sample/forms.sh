# The call paths for other programs, by the file's extension; an unknown extension is refused before anything runs.
sampled-program || exit
sampled-by >/dev/null || { echo "no samples can be taken here"; exit 77; }
deepclock sample --quiet -o out.folded -- ./program shares 60 >/dev/null
grep -o 'shares;heavy' out.folded | sort -u
for one in out.pb.gz out.speedscope.json out.callgrind out.pstats; do
	deepclock sample --quiet -o $one -- ./program shares 30 >/dev/null || echo $?
	test -s $one && echo "$one"
done
python3 -c 'import json; print(json.load(open("out.speedscope.json"))["$schema"])'
deepclock sample -o out.xyz -- ./program shares
echo $?
deepclock sample -o no/such/out.folded -- ./program shares
echo $?
