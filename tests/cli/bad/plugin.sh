# A plug-in of another ABI, a library without a plug-in table, a missing file.
command -v "${CC:-cc}" > /dev/null || { echo "no C compiler here"; exit 77; }
try() {
	echo "$1:"
	deepclock bench --quiet "plugin:$1"
	echo "exit $?"
}
try ./missing.so
echo 'int florp;' > none.c
"${CC:-cc}" -shared -fPIC -o none.so none.c
try ./none.so
cat > other.c <<'END'
#include "deepclock/plugin.h"
static const dck_engine engine = {.struct_size = sizeof engine, .abi_major = 99, .name = "other"};
const dck_engine *dck_engine_get(uint32_t host);
const dck_engine *dck_engine_get(uint32_t host) { (void)host; return &engine; }
END
"${CC:-cc}" -shared -fPIC -I"$TESTS/../../include" -o other.so other.c
try ./other.so
sed 's/return &engine/return 0/' other.c > refuses.c
"${CC:-cc}" -shared -fPIC -I"$TESTS/../../include" -o refuses.so refuses.c
try ./refuses.so
sed 's/99/DCK_ABI_MAJOR/' other.c > lacks.c
"${CC:-cc}" -shared -fPIC -I"$TESTS/../../include" -o lacks.so lacks.c
try ./lacks.so
