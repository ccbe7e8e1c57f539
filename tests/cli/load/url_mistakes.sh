# Each mistake gets one message and the right exit status.
run() {
	deepclock load --quiet "$@" > text
	echo $?
	cat text
}
ok=http://127.0.0.1:1/v1/completions
run --url $ok --model m
# https needs libcurl.
tls=https
python3 -c 'import ctypes; ctypes.CDLL("libcurl.so.4")' 2> /dev/null || tls=http
run --url $tls://127.0.0.1:1/v1/completions --model m
run --url http://user:secret@127.0.0.1:1/v1/completions --model m
run --url "$ok?key=secret" --model m
run --url http://127.0.0.1:99999/v1/completions --model m
run --url http://127.0.0.1:1/v1/embeddings --model m
run --url ftp://127.0.0.1/v1/completions --model m
run --url $ok
run --model m zoo:simplenet
run --url $ok --model m zoo:simplenet
run --url $ok --model m -- true
run --url $ok --model m --engine null
run --url $ok --model m --rate 5 --streams 2
run --url $ok --model m --scenario offline
run --url $ok --model m --slo 'p99<=90s'
run --url $ok --model m --slo 'itl-p99<=1s'
run --url $ok --model m --serial
run --url $ok --model m --shell
run --url $ok --model m --max-warmup 1s
run --url $ok --model m --rate 5 --max-queue 5000
run --url http://127.0.0.1:1/v2/models/a/infer --new-tokens 3
run --url $ok --model m --streams 2 --requests 2000000
run --url http://127.0.0.1:1/v2/models/a/infer --model b
run --engine null zoo:simplenet --rate 5 --slo 'ttft-p99<=1s'
run --url $ok --model m --header-file missing
printf 'no colon\n' > headers
run --url $ok --model m --header-file headers
printf 'X: 1\nHost: elsewhere\n' > headers
run --url $ok --model m --header-file headers
# What a server answers to the first request.
try() {
	with-server "$@" -- deepclock load --quiet --url URL/v1/completions --model m --rate 5 --time 1s > text
	echo $?
	cat text
}
try model=other
try fail=429
try fail=redirect
try fail=json
try fail=notjson
try fail=html
try fail=gigabytes
try fail=garbage
try fail=close
try fail=empty
try fail=error
with-server -- deepclock load --quiet --url URL/v1/completions --model m --warmup 1s > text
echo $?
with-server fail=hang -- deepclock load --quiet --url URL/v1/completions --model m --timeout 300ms > text
echo $?
