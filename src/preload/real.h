/* real.h - the functions that this library stands in front of.
 *
 * A row of REAL_FUNCTIONS names one; REAL(name) is what the next library of the program, mostly
 * libc, has under that name.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PRELOAD_REAL_H
#define PRELOAD_REAL_H

#undef _FORTIFY_SOURCE /* its functions of the same names would be in the way */

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

#define REAL_FUNCTIONS(X)             \
	X(read)                       \
	X(readv)                      \
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
	X(_exit) X(_Exit) X(execve) X(execv) X(execvp) X(execvpe) X(fexecve) REAL_CLOCKS(X)

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
