# Commands that profile any program have a short answer too (lines.sh).
heap-program || exit # checks whether LD_PRELOAD works
rm program
export NO_COLOR=1
sampled-program || exit
short sample deepclock sample --quiet -- ./program shares 100
short memory deepclock memory --quiet -- ./program shares 20
short count deepclock count --quiet -- ./program shares 20
short overhead deepclock overhead --quiet --rounds 2 --method count -- ./program shares 20
