# Exact numbers of known calls: recursion, threads, children, jumps, libraries that are loaded and unloaded.
count-program || exit
calls() {
	echo "$*"
	deepclock count --no-history --save run.json -q "$@" >out 2>&1
	record run.json 'sorted((row[0], row[1]) for row in t("functions")["rows"])' \
		'[n["code"] for n in r["notes"] if n["code"] not in ("count-price", "busy-neighbours", "steal")]'
}
calls -- ./program calls fib
calls -- ./program deep
record run.json 'len(r["trees"][0]["nodes"]) <= 1002'
calls -- ./program jump
calls -- ./program threads leave
calls -- ./program children
record run.json '[row[0] for row in t("processes")["rows"]]'
calls -- ./program outside
calls -- ./program unprepared
deepclock count --no-history --save run.json -q -- ./program busy >out 2>&1
deepclock report run.json -f folded --weight calls | grep 'leaf'
calls -- ./program libraries ./first.so ./other.so
calls -- ./program reload ./first.so
calls -- ./program beside ./first.so
calls -- sh -c './program calls; ./program fib; exit 0'
calls -- ./program calls exit
calls -- ./program fib kill
calls -- ./program signal
# No calls were counted: the reason is printed.
deepclock count --no-history --save run.json -- true | grep -c 'no function'
record run.json 'note("count-none")["text"]'
# A Python program: the message has the command that counts its functions.
printf 'pass\n' >x.py
deepclock count --no-history --save run.json -q -- python3 x.py >out 2>&1
record run.json 'note("count-none")["text"]'
