# heavy
# A result that cannot be written is an error, not silence.
export XDG_CACHE_HOME="$PWD/cache"
deepclock machine --quick --quiet > /dev/full
echo $?
deepclock machine --quick --quiet --details --save /dev/full > text
echo $?
grep -c '^Peaks' text
