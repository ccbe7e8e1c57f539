# Invalid requests are refused before anything is measured.
try() {
	deepclock pitfalls "$@"
	echo $?
}
try
try --only no-warmpu zoo:simplenet
try --skip nothing-like-it zoo:simplenet
try --only no-warmup --skip no-warmup zoo:simplenet
try --only '' zoo:simplenet
try --time 1 zoo:simplenet
try --level 2 zoo:simplenet
try zoo:no-such-network
try no-such-file.onnx
try zoo:simplenet zoo:resnet18
try --runs 5 zoo:simplenet
try --device tpu zoo:simplenet
