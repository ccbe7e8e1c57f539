# Without /proc only threads with zones are recorded, and the reason is printed.
zone-program || exit
if ldd "$(command -v deepclock)" | grep -q 'lib[at]san'; then
	echo "a sanitizer needs /proc"
	exit 77
fi
alone() { unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$@"; }
alone true 2>/dev/null || { echo "this user may not take /proc away"; exit 77; }
# The loader reads the path of a program from /proc.
LD_LIBRARY_PATH=$(dirname "$(readlink -f "$(command -v deepclock)")")
export LD_LIBRARY_PATH
alone deepclock trace --no-waits --format csv --save run.json -- ./program >out
echo $?
record run.json 'f("trace", "threads")' \
	'[[row[0], row[3] > 0, *row[5:7]] for t in r["tables"] if t["name"] == "threads" for row in t["rows"]][0]'
