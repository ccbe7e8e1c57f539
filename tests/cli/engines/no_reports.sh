# heavy
# ONNX Runtime's telemetry leaves no file, because it is disabled before it starts.
need-ort || exit 77
mkdir home tmp
export HOME=$PWD/home TMPDIR=$PWD/tmp ORT_DISABLE_TELEMETRY=0
left() {
	find home tmp -mindepth 1
}
deepclock engines >/dev/null && left
deepclock bench zoo:simplenet --runs 5 --quiet >/dev/null && left
deepclock bench zoo:simplenet --runs 5 --processes 2 --quiet >/dev/null && left
deepclock profile zoo:simplenet --no-roofs --runs 5 --profile-runs 5 --quiet >/dev/null && left
deepclock throughput zoo:simplenet --batch 1 --point-time 50ms --quiet >/dev/null && left
if strace -f --seccomp-bpf -o trace -e trace=network deepclock bench zoo:simplenet --threads 1 --runs 5 --quiet >/dev/null 2>&1; then
	grep -E 'socket|connect' trace
fi
# Symbols of programs: elfutils can download them from servers, which must not happen without a request.
export DEBUGINFOD_URLS=http://127.0.0.1:9/
if strace -f --seccomp-bpf -o trace -e trace=network deepclock sample --quiet --save s.json -- sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done' >/dev/null 2>&1; then
	grep -E 'AF_INET|connect' trace
fi
echo nothing else
