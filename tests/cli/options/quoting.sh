# The command line in the record can be pasted into a shell.
deepclock bench --quiet --runs 1 --warmup 0 --save run.json -- echo 'a b' "it's" '' '$HOME' plain/word=1 > text
record run.json 'r["command"]'
eval "set -- $(record run.json 'r["command"]' | cut -d: -f2-)"
printf '%s|' "$@"
echo
# A command line that is too long is truncated, and marked.
long=$(head -c 9000 /dev/zero | tr '\0' x)
deepclock bench --quiet --runs 1 --warmup 0 --save run.json -- echo "$long" end > text
record run.json 'r["command"].endswith("...")' 'len(r["command"]) < 8192'
