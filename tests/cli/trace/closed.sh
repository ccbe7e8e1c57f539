# A program that closes all descriptors, and gets their numbers for files of its own: nothing of the
# trace comes into these, and nothing of it is lost.
zone-program || exit
deepclock trace --no-waits --format csv -- ./program close | grep step/calls
wc -c <mine
deepclock report trace.pftrace --format csv | grep step/calls
# Where it was removed meanwhile there is nothing to go on with.
deepclock trace --no-waits --format csv -o gone.pftrace -- sh -c '(sleep 0.5; rm gone.pftrace) & exec ./program close' |
	grep step/calls
