# If a program cannot be traced, the reason is printed.
zone-program leaves || exit
deepclock trace -- ./program
echo $?
deepclock trace --format csv -- ./program call | grep -o 'zones/wait: sleep/calls",1'
rm program
zone-program static || exit
deepclock trace -- ./program
echo $?
