# A record contains its id and its start time; another run has another id.
for i in 1 2; do
	deepclock bench --quiet --runs 3 --warmup 0 --save $i.json -- true > text
	record $i.json 'len(r["id"])' 'int(r["id"], 16) != 0' 'r["began"]' 'r["schema"]'
done
cmp -s 1.json 2.json || echo not the same
