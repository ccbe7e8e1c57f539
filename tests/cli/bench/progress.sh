# A line on the terminal, erased at the end; none in a file, with --quiet, on a dumb terminal.
run() {
	"$@" deepclock bench $options --runs 60 --warmup 0 --idle 10ms --engine null --format csv zoo:simplenet
}
run on-terminal 80 > terminal
grep -q '<CR><ESC>\[K.*measure .* runs' terminal && echo progress
grep -o '^.*<CR><ESC>\[K[a-z]*,' terminal | tail -n 1 | grep -q '<CR><ESC>\[K[a-z]*,$' && echo erased
tr '<' '\n' < terminal | sed -n 's/^ESC>\[K//p; s/^ESC>\[2m//p' | grep runs | awk 'length > 79 {print "wide: " $0}'
run > file 2> err
cat err
grep -c ESC file
options=--quiet
run on-terminal 80 | grep -c 'measure'
options=--no-progress
run on-terminal 80 | grep -c 'measure'
options=
run env TERM=dumb on-terminal 80 env TERM=dumb | grep -c 'measure  '
