# Options that exclude each other.
try() {
	echo "--- $*"
	deepclock accuracy "$@"
	echo "exit $?"
}
printf '0\n1\n' > y.csv
try
try zoo:simplenet
try --predictions y.csv
try --labels y.csv
try --labels y.csv zoo:simplenet
try --labels y.csv --predictions y.csv zoo:simplenet
try --labels y.csv --predictions y.csv --inputs x.npy
try --inputs x.npy zoo:simplenet zoo:simplenet
try --top-k 5 zoo:simplenet zoo:simplenet
try --top-k 0 --labels y.csv --predictions y.csv
try --digits 18 --labels y.csv --predictions y.csv
try --rtol -1 zoo:simplenet zoo:simplenet
try --atol x zoo:simplenet zoo:simplenet
try --vary opt=none,all
try --vary opt=none,all zoo:simplenet zoo:simplenet
try --vary opt=none zoo:simplenet
try --vary optt=none,all zoo:simplenet
try cmd:ls zoo:simplenet
try --engine null zoo:simplenet zoo:simplenet
try --save - --labels y.csv --predictions y.csv
try --labels y.csv --predictions y.csv --output y
# Without a model, its options would change nothing; labels alone have no scores, a report on labels has no tolerance.
try --labels y.csv --predictions y.csv --batch 4
try --labels y.csv --predictions y.csv --top-k 2
try --labels y.csv --predictions y.csv --rtol 1e-3
