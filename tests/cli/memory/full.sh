# If the file of a process reaches its size limit, free space on the disk does not help; a mapping is still no block.
heap-program || exit
command -v "${CC:-cc}" > /dev/null || { echo "no C compiler here"; exit 77; }
cat > paths.c <<'END'
#include <stdlib.h>
#include <sys/mman.h>
#define BODY(again)                            \
	{                                      \
		void *volatile p = malloc(10); \
		free(p);                       \
		if (n > 0) {                   \
			one(n - 1);            \
			two(n - 1);            \
		}                              \
		again;                         \
	}
void one(int n);
void two(int n);
void one(int n) BODY((void)n)
void two(int n) BODY((void)n)
int main(void)
{
	one(15);
	mmap(NULL, 64 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return 0;
}
END
"${CC:-cc}" -g -O0 -o paths paths.c
# A file may be slightly longer than the offset where its call paths start.
kib=$(for kib in $(seq 1024 1024 262144); do
	(ulimit -f $((2 * kib)); deepclock memory --quiet --no-history --save run.json -- ./paths > /dev/null 2>&1)
	record run.json 'note("allocations-not-traced") is None' | grep -q True && { echo "$kib"; break; }
done)
record run.json 'm("memory/mapped_peak")["value"] >= 64 << 20' 'm("memory/heap_runtime")["value"] < 1 << 20' 'f("memory", "lost_paths") > 0' 'note("memory-lost")["text"].split(": ", 1)[1]'
