# A program: started for each request, its output discarded, its failure reported.
deepclock load --details --quiet --warmup 1 --requests 20 --rate 50 --save run.json -- sh -c 'head -c 100000000 /dev/zero' > text
echo $?
record run.json 'm("runs/count")["value"]' 'f("subject", "kind")' 'm("load/service_mean")["value"] > 0'
# Three concurrent programs.
deepclock load --details --quiet --warmup 1 --requests 12 --streams 3 --save run.json 'cmd:sleep 0.05' > text
echo $?
record run.json 'm("throughput/items")["value"] * m("latency/mean")["value"] > 2e9' 'm("runs/count")["value"]'
deepclock load --details --quiet --warmup 1 --requests 100 --seed 7 -- sh -c 'echo x >> n; test $(wc -l < n) -lt 10' > text
echo $?
deepclock load --details --quiet --requests 100 -- ./missing
echo $?
