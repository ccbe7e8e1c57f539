# heavy
# The result is lost when it cannot be written: an error, not silence.
export XDG_CACHE_HOME="$PWD/cache"
deepclock machine --quick --quiet > /dev/full
echo $?
deepclock machine --quick --quiet --details --save /dev/full > text
echo $?
grep -c '^Peaks' text
