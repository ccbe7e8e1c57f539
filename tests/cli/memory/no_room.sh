# A full directory for temporary files ends neither deepclock nor the program by SIGBUS; dropped
# allocations are reported, and no file remains there.
heap-program || exit
alone() { unshare -m sh -c 'mount -t tmpfs -o size=$1 none room && shift && TMPDIR=$PWD/room "$@" && ls room' sh "$@"; }
mkdir room
alone 64k true 2>/dev/null || { echo "this user may not mount a small folder"; exit 77; }
for size in 4k 64k 256k 1m 4m; do
	rm -f run.json
	alone $size sh -c 'deepclock memory --no-history --save run.json -- python3 -c "x = [list(range(9)) for i in range(9999)]" > out 2> err; echo "status $?"'
	record run.json 'm("memory/allocations").get("absent") is None or "set TMPDIR" in note("allocations-not-traced")["text"]'
done
# A program with a limited address space is not reported as having a full directory.
if ! ldd "$(command -v deepclock)" | grep -q 'lib[at]san'; then
	(ulimit -v 80000; deepclock memory -- /bin/ls > /dev/null 2> err)
	grep -q 'may map no more memory (ENOMEM); raise its limit of address space' err || cat err
fi
