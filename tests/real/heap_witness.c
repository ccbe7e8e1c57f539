/* heap_witness.c - counts calls of malloc() and its relatives independently, in a hash table, to
 * verify deepclock's counts. It is preloaded after deepclock's library, or alone.
 *
 *	WITNESS=DIR LD_PRELOAD=heap_witness.so PROGRAM
 *
 * writes DIR/PID.witness: counters that are updated while the program runs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HOOK __attribute__((visibility("default")))

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

enum { ROWS_BITS = 21, ROWS = 1 << ROWS_BITS }; /* more than the addresses of a test */

struct counters {
	int64_t allocations, bytes, frees, live, peak;
};
struct row {
	uintptr_t address;
	size_t size;
};

static struct counters *counters;
static struct row *rows; /* hashed by address; NULL: not counting */
static size_t addresses;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void begin(void)
{
	const char *directory = getenv("WITNESS");
	char name[4096];

	if (!directory)
		return;
	snprintf(name, sizeof name, "%s/%d.witness", directory, (int)getpid());
	const int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof *counters) != 0)
		_exit(99);
	counters = mmap(NULL, sizeof *counters, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	rows = mmap(NULL, ROWS * sizeof *rows, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (counters == MAP_FAILED || rows == MAP_FAILED)
		_exit(99);
	close(fd);
}

/* Returns the row of this address, or else a free row. */
static struct row *row_of(uintptr_t address)
{
	size_t i = (address >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - ROWS_BITS);

	while (rows[i].address && rows[i].address != address)
		i = (i + 1) % ROWS;
	return &rows[i];
}

/* Rows keep their address, because a free row would end the probe sequence of later rows. */
static void gone(void *p)
{
	struct row *r = rows && p ? row_of((uintptr_t)p) : NULL;

	if (!r || r->size == SIZE_MAX || !r->address)
		return;
	counters->frees++;
	counters->live -= (int64_t)r->size;
	r->size = SIZE_MAX;
}

static void *made(void *p, size_t n)
{
	if (!p)
		return NULL;
	if (!rows)
		begin();
	if (!rows)
		return p;
	struct row *r = row_of((uintptr_t)p);
	if (!r->address && ++addresses == ROWS / 2)
		_exit(98); /* the table is too small */
	*r = (struct row){(uintptr_t)p, n};
	counters->allocations++;
	counters->bytes += (int64_t)n;
	counters->live += (int64_t)n;
	if (counters->live > counters->peak)
		counters->peak = counters->live;
	return p;
}

static void *counted(void *p, size_t n)
{
	pthread_mutex_lock(&lock);
	made(p, n);
	pthread_mutex_unlock(&lock);
	return p;
}

HOOK void *malloc(size_t n)
{
	return counted(__libc_malloc(n), n);
}

HOOK void *calloc(size_t count, size_t size)
{
	return counted(__libc_calloc(count, size), count * size);
}

HOOK void free(void *p)
{
	pthread_mutex_lock(&lock);
	gone(p);
	pthread_mutex_unlock(&lock);
	__libc_free(p);
}

HOOK void *realloc(void *p, size_t n)
{
	pthread_mutex_lock(&lock);
	void *to = __libc_realloc(p, n);
	if (to || !n)
		gone(p);
	made(to, n);
	pthread_mutex_unlock(&lock);
	return to;
}

/* None calls another: that call would start at the first preloaded library again. */
HOOK void *memalign(size_t align, size_t n)
{
	return counted(__libc_memalign(align, n), n);
}

HOOK void *aligned_alloc(size_t align, size_t n)
{
	return counted(__libc_memalign(align, n), n);
}

HOOK int posix_memalign(void **ret, size_t align, size_t n)
{
	void *p = counted(__libc_memalign(align, n), n);

	if (!p)
		return ENOMEM;
	*ret = p;
	return 0;
}
