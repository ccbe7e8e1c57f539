# Each mistake gets one message and its exit status.
printf '0\n1\n1\n' > y.csv
try() {
	echo "--- $*"
	deepclock accuracy --quiet "$@" > out
	echo "exit $?"
}
p() {
	printf "$2" > "$1"
	try --labels y.csv --predictions "$1"
}
p short.csv '0\n1\n'
p header.csv 'name\n0\n1\n'
p gap.csv '0\n\n1\n'
p empty.csv ''
p blank.csv '\n\n'
p title.csv 'label\n'
p columns.csv '0,1\n1,1\n0,0\n'
p quote.csv '0\n"1\n1\n'
p share.csv '0.1\n0.7\n0.9\n'
p words.csv 'cat\ndog\ndog\n'
p zero.csv '0\0001\n1\n1\n'
try --labels y.csv --predictions missing.csv
try --labels y.csv --predictions .
npy one.npy '<f4' 3x1 .1 .2 .3
npy share.npy '<f8' 3 .1 .2 .3
npy deep.npy '<f4' 3x2x2 1
npy none.npy '<i8' 0
npy scores.npy '<f4' 3x2 .1 .9
npy wide.npy '<f4' 2x3 .1 .9
npy y.npy '<i8' 3 0 1 1
for f in one share deep none wide; do
	try --labels y.csv --predictions $f.npy
done
try --labels scores.npy --predictions y.csv
npy nan.npy '<f8' 3 0 nan 1
try --labels nan.npy --predictions y.csv
sed "s/<i8/|O8/" y.npy > object.npy
try --labels y.csv --predictions object.npy
sed "s/<i8/<M8/" y.npy > date.npy
try --labels y.csv --predictions date.npy
sed "s/<i8/<c8/" y.npy > complex.npy
try --labels y.csv --predictions complex.npy
sed "s/(3,)/(3000000000000,)/" y.npy > huge.npy
try --labels y.csv --predictions huge.npy
truncate -s 1000G sparse.csv
{ try --labels y.csv --predictions sparse.csv; } 2>&1 | sed 's/than .* the/than HALF THE MEMORY, the/'
head -c 80 y.npy > cut.npy
try --labels y.csv --predictions cut.npy
try --labels y.csv --predictions y.npy --target-names cat
try --labels y.csv --predictions y.npy --target-names cat,,dog
try --labels y.csv --predictions y.npy --target-names @missing
try --labels y.csv --predictions y.npy --label-list 0,1,0
try --labels y.csv --predictions y.npy --label-list cat
try --labels y.csv --predictions y.npy --label-list 0-999999999
try --labels words.csv --predictions y.npy
try --labels words.csv --predictions y.npy --target-names cat,cow
try --labels words.csv --predictions y.npy --target-names cat,dog,dog
npy least.npy '<i8' 3 0 1 -9223372036854775808
try --labels y.csv --predictions least.npy
