# If LD_PRELOAD cannot work for a program, the reason is printed, and its resident memory is reported.
command -v "${CC:-cc}" >/dev/null || { echo "no C compiler here"; exit 77; }
heap-program static || exit
deepclock memory --quiet --save run.json -- ./program late >out
echo "$?"
record run.json 'm("memory/heap_leaked")' 'note("allocations-not-traced")["text"]' 'm("memory/peak_rss")["value"] > 2**20' 't("memory/lines")' \
	's("memory/heap")' 's("memory/rss")["values"][-1] > 0'
rm program
heap-program || exit
# A traced program without allocations: 0 is a result, not a failure.
cat >nothing.c <<'END'
int main(void) { return 0; }
END
"${CC:-cc}" nothing.c -o nothing && deepclock memory --quiet --save run.json -- ./nothing >/dev/null
echo "$?"
record run.json 'm("memory/heap_peak")["value"]' 'note("allocations-not-traced")'
# A program with its own allocator.
cat >own.c <<'END'
#include <stddef.h>
static char block[1 << 20];
static size_t used;
void *malloc(size_t n)
{
	used += (n + 15) / 16 * 16;
	return block + used - (n + 15) / 16 * 16;
}
void free(void *p) { (void)p; }
int main(void) { return malloc(1000) == 0; }
END
"${CC:-cc}" -fno-builtin own.c -o own && deepclock memory --quiet --save run.json -- ./own >/dev/null
echo "$?"
record run.json 'note("allocations-not-traced")["text"].replace("./own", "").split(":")[1].split(" (")[0]'
deepclock memory --quiet --save run.json -- sh -c './own; true' >/dev/null
echo "$?"
record run.json '[n["text"].split(":")[0] for n in r["notes"] if n["code"] == "programs-not-recorded"]'
deepclock memory --rss-only --rate 500 --quiet --save run.json -- ./program late >out || cat out
record run.json 'm("memory/heap_peak")["absent"]' '[n["code"] for n in r["notes"]]' 'm("memory/peak_rss")["value"] > 2**20' \
	'max(s("memory/anonymous")["values"]) >= 2**20' 'len(s("memory/rss")["values"]) == len(s("memory/file")["at_ns"])'
# A static program that ends before the first sample.
static=$(dirname "$(readlink -f "$(command -v deepclock)")")/tests/zones/static_program
[ ! -x "$static" ] || deepclock memory --no-history -- "$static" 2>&1 | sed -n "/no latency/p"
