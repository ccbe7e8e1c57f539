# heavy
# A BLAS that exceeds the peak means that the peak is wrong; a BLAS that crashes affects no other result.
command -v "${CC:-cc}" > /dev/null || { echo "no C compiler"; exit 77; }
export XDG_CACHE_HOME="$PWD/cache"
try() {
	cat > blas.c
	"${CC:-cc}" -shared -fPIC -o libopenblas.so.0 blas.c
	LD_LIBRARY_PATH="$PWD" deepclock machine --quick --quiet --format json > run.json
	echo $?
}
try <<'END'
void sgemm_(void) {}
void dgemm_(void) {}
END
record run.json 'note("peak-below-blas")["severity"]' '"peak/fp32/1" in note("peak-below-blas")["text"]' \
	'f("machine", "blas").rsplit("/", 1)[-1]'
try <<'END'
#include <signal.h>
void sgemm_(void) { raise(SIGSEGV); }
void dgemm_(void) {}
END
record run.json 'note("peak-below-blas")' 'm("blas/sgemm/1")["absent"]'
