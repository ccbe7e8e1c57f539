# The way the program ended is printed, and its status is not mistaken for ours.
zone-program || exit
deepclock trace --format csv -- ./program fail | grep step/calls
deepclock trace --save run.json -- ./program open | head -1
record run.json 'f("trace", "unfinished_ranges")'
for how in kill _exit; do # its events until then are read from its file
	deepclock trace --no-waits --format csv --save run.json -- ./program $how > csv
	echo $?
	grep step/calls csv
	record run.json 'f("trace", "file")'
done
deepclock trace --no-waits --format csv -- ./program quick | grep step/calls # quick_exit() loses nothing
# A crash loses no events, and is reported.
deepclock trace --format csv --save run.json -- ./program crash > csv
echo $?
grep step/calls csv
record run.json 'f("trace", "signal")' 'r["incomplete"]'
deepclock trace --no-waits -- sh -c 'kill -9 $$'
echo $?
deepclock trace --no-waits -- true
echo $?
