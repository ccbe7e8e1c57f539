# The example from classification_report's documentation, from files of every format.
report() {
	deepclock accuracy --details --quiet "$@" | sed -n '/^Classification report/,/^weighted avg/p'
}
npy y.npy '<i8' 5 0 1 2 2 2
npy p.npy '<i8' 5 0 0 2 2 1
report --labels y.npy --predictions p.npy --target-names 'class 0,class 1,class 2' > want
cat want
names='class 0,class 1,class 2'
same() {
	report "$@" --target-names "$names" | cmp - want && echo "$*: same"
}
npy y1.npy '|i1' 5 0 1 2 2 2
npy y2.npy '>i2' 5 0 1 2 2 2
npy y3.npy '<f8' 5 0 1 2 2 2
npy y4.npy '<i4' 5x1 0 1 2 2 2
printf '0\n1\n2\n2\n2\n' > y5.csv
printf 'label\r\n0\r\n1\r\n2.0\r\n2\r\n2\r\n' > y6.csv
printf '\357\273\277class 0\nclass 1\n"class 2"\nclass 2 \n class 2\n' > y7.csv
npy p7.npy '<U7' 5 'class 0' 'class 0' 'class 2' 'class 2' 'class 1'
npy p8.npy '|S7' 5 'class 0' 'class 0' 'class 2' 'class 2' 'class 1'
npy p9.npy '>U7' 5 'class 0' 'class 0' 'class 2' 'class 2' 'class 1'
npy s.npy '<f4' 5x3 .5 .3 .2 .4 .4 .2 0 0 1 -2 -inf -1 0 .7 .7
npy s2.npy '<f2' 5x3 .5 .3 .2 .4 .4 .2 0 0 1 -2 -inf -1 0 .7 .7
npy s3.npy '|i1' 5x3 5 3 2 4 4 2 0 0 1 -2 -3 -1 0 7 7
for y in y1.npy y2.npy y3.npy y4.npy y5.csv y6.csv; do
	same --labels $y --predictions p.npy
done
same --labels y.npy --predictions y5.csv || echo "y5.csv as predictions: other, as it must be"
for p in s.npy s2.npy s3.npy; do
	same --labels y.npy --predictions $p
done
for p in p.npy p7.npy p8.npy p9.npy s.npy; do
	same --labels y7.csv --predictions $p
done
same --labels y.npy --predictions p7.npy
