# A program that runs with its standard descriptors closed, as some daemons do: what it writes to them fails, and
# does not go into the trace, which would be unreadable.
zone-program zone || exit # not under a sanitizer
deepclock trace --format csv -- sh -c 'exec sh -c "echo into the trace; echo failed: \$? >said; sleep 0.1; exit 0" <&- >&- 2>&-' |
	grep -o 'zones/wait: child/calls",1'
cat said
deepclock report trace.pftrace --format csv | grep -o 'zones/wait: child/calls",1'
grep -c 'into the trace' trace.pftrace
