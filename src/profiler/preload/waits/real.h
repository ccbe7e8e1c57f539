/* real.h - the functions that this library interposes.
 *
 * REAL(name) is the next definition of that name in the program, mostly libc's.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PRELOAD_REAL_H
#define PRELOAD_REAL_H

/* All give other functions the names of those here. */
#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS
#define __NO_INLINE__ 1

#include <features.h>

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>

/* Aliases that are called by programs built with _FORTIFY_SOURCE or for another standard: no header
 * declares all of them. */
int __uflow(FILE *f);
int __overflow(FILE *f, int c);
ssize_t __read_chk(int fd, void *to, size_t n, size_t cap);
ssize_t __pread_chk(int fd, void *to, size_t n, off_t at, size_t cap);
ssize_t __pread64_chk(int fd, void *to, size_t n, off64_t at, size_t cap);
ssize_t __recv_chk(int fd, void *to, size_t n, size_t cap, int flags);
ssize_t __recvfrom_chk(int fd, void *restrict to, size_t n, size_t cap, int flags,
		       __SOCKADDR_ARG from, socklen_t *restrict length);
int __poll_chk(struct pollfd *files, nfds_t n, int ms, size_t cap);
int __ppoll_chk(struct pollfd *files, nfds_t n, const struct timespec *time, const sigset_t *mask,
		size_t cap);
char *__fgets_chk(char *restrict to, size_t cap, int n, FILE *restrict f);
size_t __fread_chk(void *restrict to, size_t cap, size_t size, size_t n, FILE *restrict f);
int __vfprintf_chk(FILE *restrict f, int flag, const char *restrict form, va_list a);
int __fprintf_chk(FILE *restrict f, int flag, const char *restrict form, ...);
int __vprintf_chk(int flag, const char *restrict form, va_list a);
int __printf_chk(int flag, const char *restrict form, ...);
int __isoc99_vfscanf(FILE *f, const char *form, va_list a);
int __isoc99_fscanf(FILE *f, const char *form, ...);
int __isoc99_scanf(const char *form, ...);
int __isoc23_vfscanf(FILE *f, const char *form, va_list a);
int __isoc23_fscanf(FILE *f, const char *form, ...);
int __isoc23_scanf(const char *form, ...);

typedef void real_function(void); /* whatever it takes */

/* A function that this library calls. The linker makes one array of all rows of this section. */
typedef struct real_row {
	real_function *at; /* NULL: not yet resolved */
	const char *name;
} real_row;
#define REAL_SECTION "deepclock_real"

real_function *real_find(real_row *row); /* once for each row, should it be called before main */

static inline real_function *real_get(real_row *row)
{
	real_function *found = __atomic_load_n(&row->at, __ATOMIC_RELAXED);

	return __builtin_expect(found != 0, 1) ? found : real_find(row);
}

#define REAL(f)                                                                                \
	__extension__({                                                                        \
		static real_row row __attribute__((section(REAL_SECTION), used)) = {NULL, #f}; \
		(__typeof__(f) *)real_get(&row);                                               \
	})

#endif
