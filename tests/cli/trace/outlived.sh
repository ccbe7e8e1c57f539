# A daemon's first process leaves a whole trace, and a note that the daemon goes on; a trace without a byte is removed.
zone-program leaves || exit
rm program
zone-program || exit
deepclock trace -q --format csv --save run.json -- ./program daemon >csv
echo $?
grep step/calls csv
record run.json 'r["incomplete"]' 'note("program-outlived")["text"]' | sed 's/process [0-9][0-9]*/process N/'
rm -f ./*.pftrace program
zone-program leaves
deepclock trace -- ./program >out 2>&1
echo $?
find . -name '*.pftrace' -size 0
