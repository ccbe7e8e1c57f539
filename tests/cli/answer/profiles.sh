# What looks at any program has a short answer too (lines.sh).
heap-program || exit # which knows whether anything can be put in front of a program
rm program
export NO_COLOR=1
sampled-program || exit
short sample deepclock sample --quiet -- ./program shares 100
short memory deepclock memory --quiet -- ./program shares 20
short count deepclock count --quiet -- ./program shares 20
short overhead deepclock overhead --quiet --rounds 2 --method count -- ./program shares 20
