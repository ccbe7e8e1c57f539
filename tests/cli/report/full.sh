deepclock bench --quiet --runs 3 --warmup 0 --save a.json -- true > out
deepclock report a.json > /dev/full
