# Without /proc the threads that record are seen, and why there is no more.
zone-program || exit
if ldd "$(command -v deepclock)" | grep -q 'lib[at]san'; then
	echo "a sanitizer needs /proc"
	exit 77
fi
alone() { unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$@"; }
alone true 2>/dev/null || { echo "this user may not take /proc away"; exit 77; }
# The loader asks /proc where a program lies.
LD_LIBRARY_PATH=$(dirname "$(readlink -f "$(command -v deepclock)")")
export LD_LIBRARY_PATH
alone deepclock trace --no-waits --format csv --save run.json -- ./program >out
echo $?
record run.json 'f("trace", "threads")' \
	'[[row[0], row[3] > 0, *row[5:7]] for t in r["tables"] if t["name"] == "threads" for row in t["rows"]][0]'
