/* memory.c - allocation of pages that are touched in advance.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include <sys/mman.h>
#include <unistd.h>

enum { HUGE_FROM = 4 << 20 };

static size_t memory_whole_pages(size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	if (n > SIZE_MAX - page)
		return 0;
	return n ? (n + page - 1) / page * page : page;
}

void *os_pages_reserve(size_t n)
{
	size_t bytes = memory_whole_pages(n);
	if (!bytes)
		return NULL;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

void os_pages_large(void *p, size_t n)
{
#ifdef MADV_HUGEPAGE
	(void)madvise(p, n, MADV_HUGEPAGE);
#else
	(void)p, (void)n;
#endif
}

void *os_pages_alloc(size_t n)
{
	size_t bytes = memory_whole_pages(n);
	unsigned char *p = os_pages_reserve(n);
	if (!p)
		return NULL;
	/* Before the first touch: MAP_POPULATE would come too early. */
	if (bytes >= HUGE_FROM)
		os_pages_large(p, bytes);
	/* Written, not read: reading would only map the shared page of zeros. */
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	for (size_t i = 0; i < bytes; i += page)
		((volatile unsigned char *)p)[i] = 0;
	return p;
}

void os_pages_free(void *p, size_t n)
{
	if (p)
		munmap(p, memory_whole_pages(n));
}
