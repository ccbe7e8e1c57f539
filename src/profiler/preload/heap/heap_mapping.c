/* heap_mapping.c - interposes on mmap() and its relatives. Mappings that libc's allocator makes for
 * itself do not pass through these functions; those of another allocator are left out.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#undef _FILE_OFFSET_BITS /* it would give mmap() another name */
#include "profiler/preload/heap/heap_hooks.h"
#include "profiler/preload/heap/heap_ranges.h"

#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

enum { PAGE = 4096 };
static const uintptr_t space = (uintptr_t)1 << 56; /* the most of addresses that a process has */

HOOK void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	const heap_caller caller = HEAP_CALLER;
	void *p = (void *)syscall(SYS_mmap, at, n, protection, flags, fd, offset);

	if (p != MAP_FAILED && flags & MAP_ANONYMOUS && !heap_is_allocator(caller.pc))
		heap_mapping_changed(NULL, 0, p, n, &caller);
	else if (p != MAP_FAILED && flags & MAP_FIXED)
		heap_mapping_changed(p, n, NULL, 0, &caller);
	return p;
}

HOOK void *mmap64(void *at, size_t n, int protection, int flags, int fd, off64_t offset)
    __attribute__((alias("mmap")));

HOOK int munmap(void *at, size_t n)
{
	const heap_caller caller = HEAP_CALLER;
	const uintptr_t from = (uintptr_t)at;

	/* Recorded before the call, because afterwards another thread may get these addresses. It
	 * fails for a part of a page, for what no process has, and where a part of a mapping is
	 * one mapping too many. */
	if (from % PAGE == 0 && n <= space && from <= space - n)
		heap_mapping_changed(at, n, NULL, 0, &caller);
	return (int)syscall(SYS_munmap, at, n);
}

HOOK void *mremap(void *old, size_t had, size_t n, int flags, ...)
{
	const heap_caller caller = HEAP_CALLER;
	const bool known = heap_mapping_known(old);
	va_list a;

	va_start(a, flags);
	void *to = flags & MREMAP_FIXED ? va_arg(a, void *) : NULL;
	va_end(a);
	void *p = (void *)syscall(SYS_mremap, old, had, n, flags, to);
	if (p != MAP_FAILED && known)
		heap_mapping_changed(old, flags & MREMAP_DONTUNMAP ? 0 : had, p, n, &caller);
	else if (p != MAP_FAILED && flags & MREMAP_FIXED)
		heap_mapping_changed(p, n, NULL, 0, &caller);
	return p;
}
