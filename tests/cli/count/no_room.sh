# A full directory for temporary files never ends the program by SIGBUS: dropped counts are reported.
count-program || exit
alone() { unshare -m sh -c 'mount -t tmpfs -o size=$1 none room && shift && TMPDIR=$PWD/room "$@" && ls room' sh "$@"; }
mkdir room
alone 64k true 2>/dev/null || { echo "this user may not mount a small folder"; exit 77; }
for size in 4k 16k; do
	alone $size sh -c 'deepclock count --no-history --save run.json -- ./many 40 > out 2>&1; echo "status $?"'
	record run.json 'f("result", "exit_status")' '"set TMPDIR" in note("count-none")["text"]'
done
