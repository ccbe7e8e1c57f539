# A line with the remaining time, on a terminal only.
export XDG_CACHE_HOME="$PWD/cache"
on-terminal 80 deepclock machine --quick > terminal
grep -q 'memory .* s left' terminal && echo progress
deepclock machine --quick > text 2> err
wc -c < err
