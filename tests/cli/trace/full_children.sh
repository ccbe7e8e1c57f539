# Nine traces of a page each fit, and those joined do not: a note says so, and the exit status is 1. Needs root.
zone-program || exit
[ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=$((10 * $(getconf PAGESIZE))) tmpfs small 2>/dev/null || { echo "no small file system"; exit 77; }
trap 'umount small' EXIT
deepclock trace --no-waits -o small/trace.pftrace --save run.json -- ./program forks > out.txt 2> err.txt
echo $?
record run.json 'r["incomplete"]' 'note("trace-not-whole")["severity"]' 'note("trace-separate")'
