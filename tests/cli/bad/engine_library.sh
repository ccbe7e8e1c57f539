# A missing file, a file that is not a library, a library that is not ONNX Runtime, a version that is too old.
command -v "${CC:-cc}" > /dev/null || { echo "no C compiler here"; exit 77; }
try() {
	echo "$1:"
	deepclock bench --quiet --engine-lib "$1" zoo:simplenet
	echo "exit $?"
}
try ./missing.so
echo text > text.so
try ./text.so
echo 'int florp;' > other.c
"${CC:-cc}" -shared -fPIC -o other.so other.c
try ./other.so
cat > old.c <<'END'
#include <stddef.h>
#include <stdint.h>
/* The entry point as every version has it: GetApi refuses versions that it does not know. */
static const void *api(uint32_t version) { return version <= 12 ? "" : NULL; }
static const char *version(void) { return "1.12.0"; }
static const struct { const void *(*api)(uint32_t); const char *(*version)(void); } base = {api, version};
const void *OrtGetApiBase(void) { return &base; }
END
"${CC:-cc}" -shared -fPIC -o old.so old.c
try ./old.so
