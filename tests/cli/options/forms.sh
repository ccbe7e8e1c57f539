# --name value and --name=value are one; a later one wins; options may follow the subject; what
# comes after "--" is the program's own.
deepclock bench --quiet --format=json --runs 9 --runs=3 --warmup 0 -- echo --runs 5 > run.json
echo $?
record run.json 'm("runs/count")["value"]' 'r["command"]'
