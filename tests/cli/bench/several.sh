# Several interleaved subjects: the fastest one is named, exit 0; options for a single subject are refused before runs.
# With 24 rounds, delays of more than 50 ms in a few of them do not change the verdict: with 8 the interval is the whole range.
deepclock bench --quiet --runs 24 --save r.json cmd:'sleep 0.05' cmd:true --format markdown | grep -o 'cmd:true is the fastest; cmd:sleep 0.05 takes'
record r.json 'r["incomplete"]' 'r["tables"][0]["name"]' 'r["tables"][0]["rows"][0][0]' \
	'r["tables"][0]["rows"][1][6]' 'len(s("compare/rounds/cmd:true")["values"])'
for option in --time=1s --group=2 --processes=2 --idle=1ms --statistic=p99; do
	deepclock bench $option cmd:'touch ran' cmd:true
	echo $?
done
deepclock bench --runs 5 cmd:'touch ran' cmd:true
echo $?
deepclock bench --runs 7 cmd:'touch ran' cmd:true cmd:true cmd:true
echo $?
test -e ran || echo nothing ran
deepclock bench --quiet --runs 6 cmd:true cmd:false
echo $?
