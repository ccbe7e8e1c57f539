# No event is lost before an exec() with a list of arguments: each of the four programs brings its 20 steps.
zone-program zone || exit # not under a sanitizer
deepclock trace --format csv -- ./program execl | grep -o 'step/calls",[0-9]*'
# A recording that cannot start is reported once, and the program runs.
DEEPCLOCK_TRACE=none/out.pftrace ./program execl
