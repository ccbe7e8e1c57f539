# Programs with several values: the first is the baseline. With few rounds the interval would be the whole
# range, and one delay of 80 ms would make the verdict inconclusive.
deepclock compare --quiet --rounds 20 --margin 20% --scan n=1,9 --save r.json 'cmd:sleep 0.0{n}' > text
echo $?
record r.json 'f("compare", "verdict")' '[row[0] for row in r["tables"][0]["rows"]]'
# Refused before anything runs.
deepclock compare --scan n=1 'cmd:touch ran{n}'
echo $?
deepclock compare --scan n=1,2 'cmd:touch ran' cmd:true
echo $?
deepclock compare --scan n=1,2 --vary opt=none,all 'cmd:touch ran{n}'
echo $?
deepclock compare --scan n=1,2 r.json r.json
echo $?
deepclock compare --parameter-list n 1,2 'cmd:touch ran{n}'
echo $?
ls
