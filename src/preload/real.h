/* real.h - the functions that this library stands in front of.
 *
 * A row of REAL_FUNCTIONS names one; REAL(name) is what the next library of the program, mostly
 * libc, has under that name.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PRELOAD_REAL_H
#define PRELOAD_REAL_H

/* Both give other functions the names of those here. */
#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS

#include <features.h>

/* Those that came late to the library. */
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
