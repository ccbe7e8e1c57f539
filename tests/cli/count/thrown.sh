# C++: exceptions end the calls that they unwind, template instances have separate names, a thread has its own tree.
count-program || exit
[ -x thrown ] || { echo "tests/count/thrown.cc was not built: no C++ compiler"; exit 77; }
deepclock count --no-history -q --save run.json -- ./thrown >out 2>&1
record run.json 'sorted((row[0], row[1]) for row in t("functions")["rows"] if row[0] in ("thrower", "catcher", "after", "main", "many<3>", "many<7>"))' \
	't("processes")["rows"][0][2]' '[n["code"] for n in r["notes"] if n["code"] not in ("count-price", "busy-neighbours", "steal")]'
# An unwound call is not reported as still open: catcher calls after() itself, not thrower.
deepclock report run.json --callers after --format json >callers.json
record callers.json '[row[0] for row in r["tables"][0]["rows"]]' 'r["tables"][0]["title"]'
