# The command line in the record can be given to a shell again.
deepclock bench --quiet --runs 1 --warmup 0 --save run.json -- echo 'a b' "it's" '' '$HOME' plain/word=1 > text
record run.json 'r["command"]'
eval "set -- $(record run.json 'r["command"]' | cut -d: -f2-)"
printf '%s|' "$@"
echo
# One that is too long is cut, and says so.
long=$(head -c 9000 /dev/zero | tr '\0' x)
deepclock bench --quiet --runs 1 --warmup 0 --save run.json -- echo "$long" end > text
record run.json 'r["command"].endswith("...")' 'len(r["command"]) < 8192'
