# What an allocator maps for its blocks is no mapping of the program's; blocks that end by C23's functions are freed.
heap-program || exit
cat >allocator.c <<'END'
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
/* Each block has its own mapping, with its size at the beginning. */
void *malloc(size_t n)
{
	size_t *p = mmap(NULL, n + 64, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	*p = n + 64;
	return (char *)p + 64;
}
void free(void *p)
{
	size_t *at = p ? (void *)((char *)p - 64) : NULL;

	if (at)
		munmap(at, *at);
}
void *calloc(size_t n, size_t size)
{
	return malloc(n * size);
}
void *realloc(void *p, size_t n)
{
	void *to = malloc(n);

	if (p && to) {
		const size_t had = *(size_t *)(void *)((char *)p - 64) - 64;

		memcpy(to, p, had < n ? had : n);
		free(p);
	}
	return to;
}
END
cat >main.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
int main(void)
{
	void (*sized)(void *, size_t) = (void (*)(void *, size_t))dlsym(RTLD_DEFAULT, "free_sized");
	void (*aligned)(void *, size_t, size_t) = (void (*)(void *, size_t, size_t))dlsym(RTLD_DEFAULT, "free_aligned_sized");
	void *volatile p;

	for (int i = 0; i < 100; i++) {
		p = malloc(100000);
		sized ? sized(p, 100000) : free(p);
		p = malloc(1000);
		aligned ? aligned(p, 16, 1000) : free(p);
	}
	p = malloc(5000);
	return mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED || !p;
}
END
cc -O1 -fno-builtin -fPIC -shared allocator.c -o liballocator.so && cc -O1 -fno-builtin main.c -ldl -o plain &&
	cc -O1 -fno-builtin main.c -ldl -L. -lallocator -Wl,-rpath,. -o linked || exit
for program in plain linked; do
	deepclock memory --no-history -q --save run.json -- ./$program >out 2>&1 || cat out
	record run.json 'm("memory/mapped_peak")["value"]' 'm("memory/heap_leaked")["value"]' 'm("memory/allocations")["value"] >= 201'
done
