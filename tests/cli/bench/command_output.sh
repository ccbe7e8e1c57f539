# What the program prints is discarded, and never mixed with the result.
deepclock bench --quiet --runs 3 --warmup 0 --format json -- echo noise > run.json
record run.json 'm("runs/count")["value"]'
grep -q '^noise' run.json || echo no noise
