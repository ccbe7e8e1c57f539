# The default: a summary sentence and the best value of each limit, at most 15 lines.
export XDG_CACHE_HOME="$PWD/cache"
deepclock machine --quick --quiet > out
sed -n 2p out | sed 's/[0-9.]* [GTM]\(FLOP\|B\)/N \1/g; s/on [0-9]* threads*/on N threads/; s/, memory read at N B.s//'
grep -c GFLOP/s out | sed 's/[1-9]/some/'
test "$(wc -l < out)" -le 15 && echo short
