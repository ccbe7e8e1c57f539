deepclock bench --details --quiet --runs 3 --warmup 0 --save a.json -- true > out
deepclock bench --details --quiet --runs 4 --warmup 0 --save b.json -- true > out
deepclock report a.json b.json --format csv | grep -c runs/count
deepclock report --details a.json b.json | grep -c '^Latency'
