# --format json prints what --save writes, and report prints the same from it.
deepclock bench --quiet --runs 10 --warmup 1 --format json --save run.json -- true > printed.json
cmp printed.json run.json && echo printed is saved
deepclock report run.json --format json | cmp - run.json && echo report is saved
deepclock report - --format json < run.json | cmp - run.json && echo from stdin too
ls
