# The reader closes the pipe early, as head does: no crash, no message,
# and the status that a shell gives to a program killed by SIGPIPE. The record is saved.
need-ort || exit 77
gone() {
	mkfifo pipe
	sh -c 'exec 3< pipe; exec 3<&-' &
	sh -c 'exec > pipe; sleep 0.3; exec "$@"' sh "$@"
	echo "$*: $?"
	wait
	rm pipe
}
gone deepclock zoo
gone deepclock zoo resnet18 -o -
gone deepclock help
gone deepclock bench --help
gone deepclock cost zoo:resnet50 --quiet
gone deepclock bench zoo:simplenet --runs 5 --warmup 0 --quiet --save run.json
gone deepclock report run.json --format json
gone deepclock history list
gone deepclock history export
sh -c 'deepclock bench zoo:simplenet --runs 5 --warmup 0 --quiet | head -1' | wc -l
