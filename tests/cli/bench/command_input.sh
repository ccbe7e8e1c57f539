# A file as standard input, which each run reads from its beginning; --directory does not move it.
printf 'three\nshort\nlines\n' > lines
mkdir elsewhere
deepclock bench --quiet --runs 3 --warmup 1 --input lines --directory elsewhere --output counts --save run.json -- wc -l > text && cat counts
record run.json 'f("plan", "input")' 'm("runs/count")["value"]'
# In fresh processes, of several, and in a comparison.
rm counts
deepclock bench --quiet --runs 2 --warmup 0 --processes 2 --input lines --output counts -- wc -l > text && sort -u counts
deepclock compare --quiet --rounds 6 --input lines 'cmd:wc -l' 'cmd:grep -q short' --save both.json > text 2> err
record both.json 'f("compare", "subject/cmd:wc -l")'
# What cannot be one.
deepclock bench --quiet --runs 1 --input missing -- cat
deepclock bench --quiet --runs 1 --input elsewhere -- cat
deepclock bench --quiet --runs 1 --input lines --input lines -- cat
mkfifo pipe
deepclock bench --quiet --runs 1 --input pipe -- cat
deepclock bench --quiet --runs 2 --warmup 0 --input lines --prepare 'rm -f lines' -- cat
