# How the program ends is said, and its status is not taken for ours.
zone-program || exit
deepclock trace --format csv -- ./program fail | grep step/calls
deepclock trace --save run.json -- ./program open | head -1
record run.json 'f("trace", "unfinished_ranges")'
deepclock trace --format csv -- ./program fork | grep step/calls
ls -- *.pftrace | sed 's/[0-9][0-9]*/PID/'
deepclock trace -- ./program kill > /dev/null
echo $?
deepclock trace -- ./program _exit > /dev/null
echo $?
deepclock trace -- sh -c 'kill -9 $$'
echo $?
deepclock trace -- true
echo $?
