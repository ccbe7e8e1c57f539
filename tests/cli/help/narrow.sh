# No line is wider than the terminal, and the words are the same.
COLUMNS=50 deepclock bench --help > narrow
COLUMNS=100 deepclock bench --help > wide
awk 'length > 50 && !/^  deepclock/ && !/^(Usage:|      ) deepclock/ {print "too wide: " $0}' narrow
for f in narrow wide; do tr -s ' \n' '\n\n' < $f > $f.words; done
cmp narrow.words wide.words && echo same words
