/* faults.c - fault injection by LD_PRELOAD: makes one allocation or one write of a program fail.
 *
 * FAULT_PROGRAM=FILE: the program; no call fails in other programs that it starts.
 * FAULT_KIND=malloc|write: allocations by any function, or write() and similar calls to a file.
 * FAULT_AT=N: the Nth call fails, from 1; 0: none. FAULT_ON=1: and all later calls.
 * FAULT_COUNT=FILE: the file to which the number of calls is written at exit.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t alignment, size_t n);

static _Atomic long seen;
static long fail_at, fail_on;
static bool writes, ready;

static bool is_the_program(void)
{
	const char *program = getenv("FAULT_PROGRAM");
	struct stat wanted, here;

	return program && stat(program, &wanted) == 0 && stat("/proc/self/exe", &here) == 0 &&
	       wanted.st_dev == here.st_dev && wanted.st_ino == here.st_ino;
}

__attribute__((constructor)) static void begin(void)
{
	const char *kind = getenv("FAULT_KIND"), *at = getenv("FAULT_AT"), *on = getenv("FAULT_ON");

	writes = kind && strcmp(kind, "write") == 0;
	fail_at = at ? atol(at) : 0;
	fail_on = on ? atol(on) : 0;
	ready = is_the_program();
}

__attribute__((destructor)) static void end(void)
{
	const char *path = ready ? getenv("FAULT_COUNT") : NULL;
	char text[32];

	ready = false;
	const int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
	if (fd >= 0) {
		const int n = snprintf(text, sizeof text, "%ld\n", atomic_load(&seen));

		(void)!write(fd, text, (size_t)n);
		close(fd);
	}
}

static bool fails(bool is_write)
{
	if (!ready || is_write != writes)
		return false;
	const long k = atomic_fetch_add(&seen, 1) + 1;
	return fail_at > 0 && (fail_on ? k >= fail_at : k == fail_at);
}

static bool no_memory(void)
{
	if (!fails(false))
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t n)
{
	return no_memory() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return no_memory() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return no_memory() ? NULL : __libc_realloc(p, n);
}

void *aligned_alloc(size_t alignment, size_t n)
{
	return no_memory() ? NULL : __libc_memalign(alignment, n);
}

int posix_memalign(void **ret, size_t alignment, size_t n)
{
	if (no_memory())
		return ENOMEM;
	*ret = __libc_memalign(alignment, n);
	return *ret ? 0 : ENOMEM;
}

/* Returns whether a write to a file or pipe fails, and sets errno as for a full disk. */
static bool no_room(void)
{
	if (!fails(true))
		return false;
	errno = ENOSPC;
	return true;
}

#define REAL(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *p, size_t n)
{
	static ssize_t (*real)(int, const void *, size_t);

	if (!real)
		real = REAL(write);
	return fd != 2 && no_room() ? -1 : real(fd, p, n);
}

ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
	static ssize_t (*real)(int, const void *, size_t, off64_t);

	if (!real)
		real = REAL(pwrite64);
	return no_room() ? -1 : real(fd, p, n, at);
}

int fsync(int fd)
{
	static int (*real)(int);

	if (!real)
		real = REAL(fsync);
	return no_room() ? -1 : real(fd);
}
