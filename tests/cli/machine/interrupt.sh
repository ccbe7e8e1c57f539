# Ctrl-C: the results until then are reported, nothing is cached, and the exit status is that of an interruption.
export XDG_CACHE_HOME="$PWD/cache"
timeout --preserve-status -s INT 4 deepclock machine --quiet --format json > run.json 2> err
echo $?
sed 's/pass [0-9]*/pass N/' err
record run.json 'r["incomplete"]' 'note("interrupted")["severity"]' 'm("overhead/clock")["value"] > 0' \
	'f("machine", "others_cpu") >= 0'
test -e cache || echo nothing kept
