# https, by libcurl: the same times and counts; a certificate is verified, with its name.
command -v openssl > /dev/null || { echo "skipped: openssl is not installed"; exit 77; }
python3 -c 'import ctypes; ctypes.CDLL("libcurl.so.4")' 2> /dev/null || { echo "skipped: libcurl.so.4 is not installed"; exit 77; }
ask="--quiet --model m --rate 50 --requests 40 --new-tokens 6 --save run.json"
with-tls ttft=20000 gap=5000 utf8=1 -- deepclock load $ask --cacert cert.pem --url URL/v1/completions > text 2> err
echo $?
grep -v '^deepclock: client-bound: ' err # where the system delays the client
record run.json '[row[:2] for row in t("load/outcomes")["rows"]]' 'min(s("ttft")["values"]) >= 20e6' 'min(s("latency")["values"]) >= 45e6' \
	'f("load", "chunks")' 'f("load", "tokens_delivered")' '"TLS by libcurl/" in f("load", "client")' 'm("load/client_floor")["absent"]' \
	'f("subject", "name")[:18]'
# A closed loop, a connection for each request, an ordinary model, failures.
with-tls close=1 -- deepclock load --quiet --model m --streams 3 --requests 12 --new-tokens 4 --save run.json --cacert cert.pem \
	--url URL/v1/chat/completions > text 2> err
record run.json '[row[:2] for row in t("load/outcomes")["rows"]]' 'm("load/in_flight_max")["value"]'
with-tls -- deepclock load --quiet --streams 1 --requests 5 --save run.json --cacert cert.pem --url URL/v2/models/m/infer > text 2> err
record run.json '[row[:2] for row in t("load/outcomes")["rows"]]'
with-tls every=4 fail=cut -- deepclock load $ask --cacert cert.pem --url URL/v1/completions > text 2> err
record run.json '[row[:2] for row in t("load/outcomes")["rows"]]'
with-tls -- deepclock compare --quiet --rounds 12 --model m --new-tokens 4 --cacert cert.pem --save run.json --url URL/v1/completions \
	--url URL/v1/completions > text 2> err
record run.json 'f("method", "pairs") + f("method", "pairs_lost")' 'm("load/client_floor")["absent"]'
# Certificates that do not verify, and mistakes.
refused() {
	with-tls -- deepclock load $ask "$@" 2>&1 | sed 's/127.0.0.1:[0-9]*/SERVER/; s/localhost:[0-9]*/OTHER/; s/verify: .*; give/verify: ...; give/; s/by TLS: .*/by TLS: .../'
}
refused --url URL/v1/completions
refused --url OTHER/v1/completions --cacert cert.pem
refused --url URL/v1/completions --cacert plain.pem
refused --url URL/v1/completions --cacert missing.pem
refused --url http://127.0.0.1:1/v1/completions --cacert cert.pem
with-server -- sh -c 'deepclock load '"$ask"' --url $(echo URL | sed s/http/https/)/v1/completions' 2>&1 |
	sed 's/127.0.0.1:[0-9]*/SERVER/; s/by TLS: .*/by TLS: .../'
# Further connections that are refused are outcomes of their requests.
with-tls accepts=4 -- deepclock load --quiet --model m --streams 4 --requests 20 --new-tokens 4 --save run.json --cacert cert.pem \
	--url URL/v1/completions > text 2> err
echo $?
record run.json '[row[0] for row in t("load/outcomes")["rows"]]' 'sum(row[1] for row in t("load/outcomes")["rows"])'
