/* real.h - the functions that this library interposes.
 *
 * A row of REAL_FUNCTIONS names one; REAL(name) is the next definition of that name in the program,
 * mostly libc's.
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

/* Functions of newer libcs. */
#if __GLIBC_PREREQ(2, 30)
#define REAL_CLOCKS(X)                \
	X(pthread_mutex_clocklock)    \
	X(pthread_rwlock_clockrdlock) \
	X(pthread_rwlock_clockwrlock) \
	X(pthread_cond_clockwait)     \
	X(sem_clockwait)
#else
#define REAL_CLOCKS(X)
#endif
#if __GLIBC_PREREQ(2, 31)
#define REAL_CLOCK_JOIN(X) X(pthread_clockjoin_np)
#else
#define REAL_CLOCK_JOIN(X)
#endif
#if __GLIBC_PREREQ(2, 28)
#define REAL_C11(X)      \
	X(mtx_trylock)   \
	X(mtx_lock)      \
	X(mtx_timedlock) \
	X(cnd_wait)      \
	X(cnd_timedwait) \
	X(thrd_join)     \
	X(thrd_sleep)
#else
#define REAL_C11(X)
#endif

#define REAL_FUNCTIONS(X)             \
	X(read)                       \
	X(readv)                      \
	X(pread)                      \
	X(pread64)                    \
	X(pwrite)                     \
	X(pwrite64)                   \
	X(fsync)                      \
	X(fdatasync)                  \
	X(accept)                     \
	X(accept4)                    \
	X(connect)                    \
	X(poll)                       \
	X(ppoll)                      \
	X(select)                     \
	X(pselect)                    \
	X(epoll_wait)                 \
	X(epoll_pwait)                \
	X(sem_wait)                   \
	X(sem_timedwait)              \
	X(pthread_barrier_wait)       \
	X(pthread_timedjoin_np)       \
	X(recv)                       \
	X(recvfrom)                   \
	X(recvmsg)                    \
	X(write)                      \
	X(writev)                     \
	X(send)                       \
	X(sendto)                     \
	X(sendmsg)                    \
	X(nanosleep)                  \
	X(clock_nanosleep)            \
	X(usleep)                     \
	X(sleep)                      \
	X(pthread_mutex_trylock)      \
	X(pthread_mutex_lock)         \
	X(pthread_mutex_timedlock)    \
	X(pthread_rwlock_tryrdlock)   \
	X(pthread_rwlock_rdlock)      \
	X(pthread_rwlock_timedrdlock) \
	X(pthread_rwlock_trywrlock)   \
	X(pthread_rwlock_wrlock)      \
	X(pthread_rwlock_timedwrlock) \
	X(pthread_cond_wait)          \
	X(pthread_cond_timedwait)     \
	X(pthread_join)               \
	X(waitpid)                    \
	X(wait)                       \
	X(wait3)                      \
	X(wait4)                      \
	X(waitid)                     \
	X(_exit)                      \
	X(_Exit)                      \
	X(execve)                     \
	X(execv)                      \
	X(execvp)                     \
	X(execvpe)                    \
	X(fexecve)                    \
	X(__read_chk)                 \
	X(__pread_chk)                \
	X(__pread64_chk)              \
	X(__recv_chk)                 \
	X(__recvfrom_chk)             \
	X(__poll_chk)                 \
	X(__ppoll_chk)                \
	X(syscall)                    \
	X(fgetc)                      \
	X(__uflow)                    \
	X(fputc)                      \
	X(__overflow)                 \
	X(fgets)                      \
	X(__fgets_chk)                \
	X(fgets_unlocked)             \
	X(fread)                      \
	X(__fread_chk)                \
	X(fread_unlocked)             \
	X(getline)                    \
	X(getdelim)                   \
	X(__getdelim)                 \
	X(__isoc99_vfscanf)           \
	X(__isoc23_vfscanf)           \
	X(fwrite)                     \
	X(fwrite_unlocked)            \
	X(fputs)                      \
	X(fputs_unlocked)             \
	X(puts)                       \
	X(fflush)                     \
	X(fclose)                     \
	X(vfprintf)                   \
	X(__vfprintf_chk)             \
	X(sigwait)                    \
	X(sigwaitinfo)                \
	X(sigtimedwait)               \
	X(sigsuspend)                 \
	X(pause)                      \
	REAL_CLOCKS(X)                \
	REAL_CLOCK_JOIN(X)            \
	REAL_C11(X)

enum {
#define REAL_NUMBER(f) REAL_##f,
	REAL_FUNCTIONS(REAL_NUMBER) REAL_COUNT
};

typedef void real_function(void); /* whatever it takes */

extern real_function *real_functions[REAL_COUNT];
real_function *real_find(int number); /* once for each function, should it be called before main */

static inline real_function *real_get(int number)
{
	real_function *found = __atomic_load_n(&real_functions[number], __ATOMIC_RELAXED);

	return __builtin_expect(found != 0, 1) ? found : real_find(number);
}

#define REAL(f) ((__typeof__(f) *)real_get(REAL_##f))

#endif
