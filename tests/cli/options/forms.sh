# --name value and --name=value are equivalent; a later option wins; options may follow the subject; words
# after "--" belong to the program.
deepclock bench --quiet --format=json --runs 9 --runs=3 --warmup 0 -- echo --runs 5 > run.json
echo $?
record run.json 'm("runs/count")["value"]' 'r["command"]'
