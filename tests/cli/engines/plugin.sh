# docs/reference/plugin.md step by step, with the example: built, listed, measured; then a plug-in that is refused
# and one that crashes.
command -v "${CC:-cc}" > /dev/null || { echo "no C compiler here"; exit 77; }
cp "$TESTS/../../plugins/example/example.c" mine.c
"${CC:-cc}" -shared -fPIC -O2 -fvisibility=hidden -I "$TESTS/../../include" mine.c -o mine.so
deepclock engines plugin:./mine.so
deepclock engines plugin:mine.so --format json
deepclock engines plugin:./mine.so --format csv
deepclock bench plugin:./mine.so --engine-option size=16 --dim N=8 --runs 5 --warmup 0 --quiet --format csv |
	grep -o '^latency/median'
deepclock engines plugin:./none.so
echo "$?"
deepclock engines plugin:
echo "$?"
cat > crash.c <<'END'
const void *dck_engine_get(unsigned host);
const void *dck_engine_get(unsigned host) { return *(void *volatile *)(long)(host - host); }
END
"${CC:-cc}" -shared -fPIC crash.c -o crash.so
deepclock engines plugin:./crash.so
echo "$?"
