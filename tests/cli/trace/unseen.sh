# Of what nothing can be seen, it is said why.
zone-program leaves || exit
deepclock trace -- ./program
echo $?
deepclock trace --format csv -- ./program call | grep -o 'zones/wait: sleep/calls",1'
rm program
zone-program static || exit
deepclock trace -- ./program
echo $?
