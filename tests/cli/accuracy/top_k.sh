# Top-k accuracy: how often the label is among the k highest scores; ties go to the first column.
npy s.npy '<f4' 4x4  .1 .2 .3 .4  .4 .3 .2 .1  .25 .25 .25 .25  0 0 9 9
printf '3\n2\n1\n3\n' > y.csv
for k in 1 2 3 4; do
	deepclock accuracy --details --quiet --labels y.csv --predictions s.npy --top-k $k --save k$k.json > text
	record k$k.json 'm("accuracy/overall")["value"]' '(m("accuracy/top_k") or {}).get("value")'
done
record k3.json 'f("result", "answer")'
deepclock accuracy --quiet --labels y.csv --predictions s.npy --top-k 5 2>&1
echo $?
# Labels that start at 1.
printf '4\n1\n1\n3\n' > y.csv
deepclock accuracy --details --quiet --labels y.csv --predictions s.npy --top-k 2 --save k.json | sed -n '/^warning:.*labels/,/\]$/p'
record k.json 'm("accuracy/top_k")["value"]' 'note("labels-beyond-scores")["severity"]'
# Scores that begin with one of a background class, and labels that do not count it; labels counted from 1.
printf '%s\n' 0 1 2 3 4 0 > y.csv
printf '%s\n' 1 2 3 4 5 2 > p.csv
deepclock accuracy --quiet --labels y.csv --predictions p.csv --save k.json > text
record k.json 'note("labels-shifted")["text"]'
deepclock accuracy --quiet --labels p.csv --predictions y.csv --save k.json > text
record k.json 'note("labels-shifted")["text"]'
