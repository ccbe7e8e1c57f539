# A program is timed for 2 s, unless --max-time or a precision is given; the summary has its CPU time, and that of a longer one is split.
deepclock bench --quiet --min-time 1ms --save run.json cmd:true > text
grep -c '^  CPU time ' text
record run.json 'm("time/measured")["value"] < 1e10' 'not f("method", "stop").startswith("max-time: 10 s")'
deepclock bench --quiet --runs 3 -- python3 -c 'from time import thread_time as t
while t() < 0.15: pass' | grep -c '^  user .* system '
