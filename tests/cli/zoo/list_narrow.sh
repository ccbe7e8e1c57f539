# No line is wider than the terminal; the names stay in the first column.
COLUMNS=60 deepclock zoo > narrow
awk 'length > 60 {print "too wide: " $0}' narrow
cut -d' ' -f1 narrow | grep -v '^$' | tr '\n' ' '
