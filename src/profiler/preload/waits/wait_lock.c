/* wait_lock.c - interposes on locks, condition variables, semaphores, barriers and joins, of POSIX,
 * C11 and System V.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/sem.h>
#if __GLIBC_PREREQ(2, 28)
#include <threads.h>
#endif

/* The lock was acquired. EOWNERDEAD: its last owner died with it, which is passed on to the
 * caller. */
static bool got(int code)
{
	return code == 0 || code == EOWNERDEAD;
}

/* A function that tries first, and waits only when that fails. */
#define LOCKS(name, parameters, try, object, arguments) \
	PRELOAD int name parameters                     \
	{                                               \
		const int code = REAL(try)(object);     \
		if (got(code))                          \
			return code;                    \
		WAIT("wait: lock");                     \
		return REAL(name) arguments;            \
	}
LOCKS(pthread_mutex_lock, (pthread_mutex_t * m), pthread_mutex_trylock, m, (m))
LOCKS(pthread_mutex_timedlock, (pthread_mutex_t *restrict m, const struct timespec *restrict until),
      pthread_mutex_trylock, m, (m, until))
LOCKS(pthread_rwlock_rdlock, (pthread_rwlock_t * l), pthread_rwlock_tryrdlock, l, (l))
LOCKS(pthread_rwlock_timedrdlock,
      (pthread_rwlock_t *restrict l, const struct timespec *restrict until),
      pthread_rwlock_tryrdlock, l, (l, until))
LOCKS(pthread_rwlock_wrlock, (pthread_rwlock_t * l), pthread_rwlock_trywrlock, l, (l))
LOCKS(pthread_rwlock_timedwrlock,
      (pthread_rwlock_t *restrict l, const struct timespec *restrict until),
      pthread_rwlock_trywrlock, l, (l, until))
WAITS(int, pthread_cond_wait, "wait: condition",
      (pthread_cond_t *restrict c, pthread_mutex_t *restrict m), (c, m))
WAITS(int, pthread_cond_timedwait, "wait: condition",
      (pthread_cond_t *restrict c, pthread_mutex_t *restrict m,
       const struct timespec *restrict until),
      (c, m, until))
WAITS(int, pthread_join, "wait: join", (pthread_t thread, void **ret), (thread, ret))
WAITS(int, pthread_timedjoin_np, "wait: join",
      (pthread_t thread, void **ret, const struct timespec *until), (thread, ret, until))
WAITS(int, pthread_barrier_wait, "wait: barrier", (pthread_barrier_t * b), (b))
WAITS(int, sem_wait, "wait: semaphore", (sem_t * s), (s))
WAITS(int, sem_timedwait, "wait: semaphore",
      (sem_t *restrict s, const struct timespec *restrict until), (s, until))
WAITS(int, semop, "wait: semaphore", (int set, struct sembuf *operations, size_t n),
      (set, operations, n))
WAITS(int, semtimedop, "wait: semaphore",
      (int set, struct sembuf *operations, size_t n, const struct timespec *time),
      (set, operations, n, time))

#if __GLIBC_PREREQ(2, 30)
WAITS(int, sem_clockwait, "wait: semaphore",
      (sem_t *restrict s, clockid_t clock, const struct timespec *restrict until),
      (s, clock, until))
LOCKS(pthread_mutex_clocklock,
      (pthread_mutex_t *restrict m, clockid_t clock, const struct timespec *restrict until),
      pthread_mutex_trylock, m, (m, clock, until))
LOCKS(pthread_rwlock_clockrdlock,
      (pthread_rwlock_t *restrict l, clockid_t clock, const struct timespec *restrict until),
      pthread_rwlock_tryrdlock, l, (l, clock, until))
LOCKS(pthread_rwlock_clockwrlock,
      (pthread_rwlock_t *restrict l, clockid_t clock, const struct timespec *restrict until),
      pthread_rwlock_trywrlock, l, (l, clock, until))
WAITS(int, pthread_cond_clockwait, "wait: condition",
      (pthread_cond_t *restrict c, pthread_mutex_t *restrict m, clockid_t clock,
       const struct timespec *restrict until),
      (c, m, clock, until))
#endif

#if __GLIBC_PREREQ(2, 31)
WAITS(int, pthread_clockjoin_np, "wait: join",
      (pthread_t thread, void **ret, clockid_t clock, const struct timespec *until),
      (thread, ret, clock, until))
#endif

/* --- of C11, which libc does not make of those above */

#if __GLIBC_PREREQ(2, 28)
LOCKS(mtx_lock, (mtx_t * m), mtx_trylock, m, (m))
LOCKS(mtx_timedlock, (mtx_t *restrict m, const struct timespec *restrict until), mtx_trylock, m,
      (m, until))
WAITS(int, cnd_wait, "wait: condition", (cnd_t * c, mtx_t *m), (c, m))
WAITS(int, cnd_timedwait, "wait: condition",
      (cnd_t *restrict c, mtx_t *restrict m, const struct timespec *restrict until), (c, m, until))
WAITS(int, thrd_join, "wait: join", (thrd_t thread, int *ret), (thread, ret))
#endif
