# Subjects whose long names differ at the end are two.
dir=$(printf 'long%.0s' $(seq 45))
mkdir -p $dir/old $dir/new
printf '#!/bin/sh\nexit 0\n' > $dir/old/work
cp $dir/old/work $dir/new/work
chmod +x $dir/*/work
deepclock compare --quiet --rounds 20 --margin 900% --no-history --save run.json "cmd:$dir/old/work" "cmd:$dir/new/work" > text
echo $?
record run.json '[row[0][-9:] for row in r["tables"][0]["rows"]]' '[s["tag"][-9:] for s in r["series"]]'
