# Each mistake gets one message.
export XDG_CACHE_HOME="$PWD/cache"
try() {
	deepclock machine "$@"
	echo "exit $?"
}
try --threads 0 2>&1
try --threads 1000 2>&1 | sed 's/may use [0-9]* processors/may use N processors/'
try --refresh --cached-only 2>&1
try --save - 2>&1
try model.onnx 2>&1
try --refersh 2>&1
deepclock machine --quick --cached-only 2>&1
echo $?
