# The answer first, then a few lines.
sampled-program || exit
sampled-by >/dev/null || { echo "no samples can be taken here"; exit 77; }
deepclock sample -- ./program shares >out.txt
sed -n 2p out.txt | sed 's/[0-9.,]* %/N %/; s/in [0-9,]* samples/in N samples/'
test $(wc -l <out.txt) -le 25 && echo "short"
grep -c '^  heavy' out.txt
