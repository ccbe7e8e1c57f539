# At the default name the trace of an earlier run is retained; a named file is replaced.
zone-program zone || exit # not under a sanitizer
for i in 1 2 3; do
	deepclock trace -q --no-history -- sh -c "sleep 0.0$i" >/dev/null
	cksum <trace.pftrace >sum.$i
done
cksum <trace.previous.pftrace | cmp - sum.2 && ls -- *.pftrace
deepclock trace -q --no-history -o trace.pftrace -- sh -c 'sleep 0.01' >/dev/null
cksum <trace.previous.pftrace | cmp - sum.2
# A run without a trace does not move the earlier trace.
cksum <trace.pftrace >sum.4
deepclock trace -q --no-history -- ./none
cksum <trace.pftrace | cmp - sum.4
cksum <trace.previous.pftrace | cmp - sum.2 && ls -- *previous*
