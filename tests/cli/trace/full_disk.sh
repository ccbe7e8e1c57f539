# The table is complete, and the file is not: the error is printed, and the exit status is 1.
zone-program || exit
[ -w /dev/full ] || { echo "there is no /dev/full"; exit 77; }
deepclock trace -o /dev/full --format csv --save run.json -- ./program > table.csv
echo $?
grep step/calls table.csv
record run.json 'r["incomplete"]' 'note("trace-not-whole")["severity"]'
