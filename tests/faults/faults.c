/* faults.c - put in front of a program (LD_PRELOAD) it lets one allocation or one write fail.
 *
 * FAULT_PROGRAM=FILE: the program; in another one that it starts nothing fails.
 * FAULT_KIND=malloc|write: what fails: memory of any function, or write() and its like to a file.
 * FAULT_AT=N: the Nth of them, from 1; 0: none. FAULT_ON=1: and all that follow.
 * FAULT_COUNT=FILE: how many there were is written there at the end.
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

/* Of a file or a pipe: what a disk may refuse. */
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
