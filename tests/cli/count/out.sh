# --out of a profile: the extension selects the format, and the program's own output stays on stdout.
count-program || exit
for ending in txt json csv md html folded callgrind; do
	deepclock count --no-history -q -o out.$ending -- sh -c 'echo own output' || echo $?
	test -s out.$ending && echo "out.$ending"
done
grep -c 'own output$' out.json out.csv out.md
python3 -c 'import json; print(json.load(open("out.json"))["command"])'
deepclock count -o out.xyz -- sh -c 'echo not run'
echo $?
deepclock count --no-history -q -f markdown -o out.txt -- true && grep -c . out.txt >/dev/null && echo out.txt
deepclock memory -q -o out.pb.gz -- sh -c 'echo own output' && test -s out.pb.gz && echo out.pb.gz
deepclock memory -q -o memory.json -- sh -c 'echo own output' && python3 -c 'import json; print(json.load(open("memory.json"))["command"])'
deepclock count -q --db kept.db -- true >/dev/null && deepclock history list --db kept.db --format csv | tail -n +2 | grep -c ,
