# Classes that are never predicted or have no items; more classes than a confusion matrix shows.
printf 'a\na\nb\n' > y.csv
printf 'a\na\nc\n' > p.csv
deepclock accuracy --details --quiet --labels y.csv --predictions p.csv | sed -n '/^warning/,$p'
# One class.
printf 'a\na\n' > p.csv && cp p.csv y.csv
deepclock accuracy --details --quiet --labels y.csv --predictions p.csv | sed -n '/^  accuracy *[0-9]/p; /^Classification/,/^Facts/p'
i=0
while [ $i -lt 50 ]; do
	echo "class $i"
	i=$((i + 1))
done > y.csv
sed 's/4$/7/; s/class 1[123]$/class 10/' y.csv > p.csv
deepclock accuracy --details --quiet --labels y.csv --predictions p.csv | sed -n '/^Most/,/^Facts/p'
