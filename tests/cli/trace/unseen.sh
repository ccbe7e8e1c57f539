# If a program cannot be traced, the reason is printed. A slow start may have written the file's beginning: the results
# are then partial, and not nothing.
zone-program leaves || exit
deepclock trace -- ./program 2> said > /dev/null
echo $?
rm -f ./*.pftrace
sed 's/ recorded nothing//; s/; the results are partial//' said
deepclock trace --format csv -- ./program call | grep -o 'zones/wait: sleep/calls",1'
rm program
zone-program static || exit
deepclock trace -- ./program
echo $?
