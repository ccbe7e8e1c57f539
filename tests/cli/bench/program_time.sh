# A program is timed for 2 s, unless --max-time or a precision is given; the summary has its user and system time.
deepclock bench --quiet --min-time 1ms --save run.json cmd:true > text
grep -c '^  user .* system ' text
record run.json 'm("time/measured")["value"] < 1e10' 'not f("method", "stop").startswith("max-time: 10 s")'
deepclock bench --quiet --runs 3 cmd:true | grep -c '^  user .* system '
