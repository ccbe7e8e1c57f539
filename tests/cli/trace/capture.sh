# Records only while a range of a given name is open.
zone-program || exit
deepclock trace --no-waits --capture-range step --save run.json -- ./program >out
record run.json '[row[:2] for row in t("zones")["rows"]]' 'f("trace", "capture_range")' \
	'f("trace", "captures")' 'f("trace", "captured") < f("trace", "elapsed")'
deepclock report trace.pftrace --format csv | grep /calls
# Twice, inside another range, with an explicit format, and with the newest events.
deepclock trace --no-waits --capture-range forward --capture-times 2 --lossless -o out.json --format csv -- ./program |
	grep /calls
deepclock trace --no-waits --capture-range forward --capture-range 'no@*' --last 1MiB --format csv -- ./program |
	grep /calls
# The program's children, each by its own ranges.
deepclock trace --no-waits --capture-range step --save run.json -- sh -c './program; ./program' >out
record run.json 'f("trace", "captures")' 'note("trace-not-captured")'
# The range never opens.
deepclock trace --no-waits --capture-range stepp -- ./program
echo $?
