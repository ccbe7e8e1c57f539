# A program that closes all descriptors and reuses their numbers for its own files: no trace
# data is written into these files, and none is lost.
zone-program || exit
deepclock trace --no-waits --format csv -- ./program close | grep step/calls
wc -c <mine
deepclock report trace.pftrace --format csv | grep step/calls
# If the file was removed during the run, recording cannot continue.
deepclock trace --no-waits --format csv -o gone.pftrace -- sh -c '(sleep 0.5; rm gone.pftrace) & exec ./program close' |
	grep step/calls
