/* wait_lock.c - interposes on locks, condition variables, semaphores, barriers and joins, of POSIX
 * and C11.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#if __GLIBC_PREREQ(2, 28)
#include <threads.h>
#endif

/* The lock was acquired. EOWNERDEAD: its last owner died with it, which is passed on to the
 * caller. */
static bool got(int code)
{
	return code == 0 || code == EOWNERDEAD;
}

/* Tries, and waits only when that fails. */
#define LOCK(try, object, lock)                     \
	do {                                        \
		const int code = REAL(try)(object); \
		if (got(code))                      \
			return code;                \
		WAIT("wait: lock");                 \
		return lock;                        \
	} while (0)

PRELOAD int pthread_mutex_lock(pthread_mutex_t *m)
{
	LOCK(pthread_mutex_trylock, m, REAL(pthread_mutex_lock)(m));
}

PRELOAD int pthread_mutex_timedlock(pthread_mutex_t *restrict m,
				    const struct timespec *restrict until)
{
	LOCK(pthread_mutex_trylock, m, REAL(pthread_mutex_timedlock)(m, until));
}

PRELOAD int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	LOCK(pthread_rwlock_tryrdlock, l, REAL(pthread_rwlock_rdlock)(l));
}

PRELOAD int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict l,
				       const struct timespec *restrict until)
{
	LOCK(pthread_rwlock_tryrdlock, l, REAL(pthread_rwlock_timedrdlock)(l, until));
}

PRELOAD int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	LOCK(pthread_rwlock_trywrlock, l, REAL(pthread_rwlock_wrlock)(l));
}

PRELOAD int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict l,
				       const struct timespec *restrict until)
{
	LOCK(pthread_rwlock_trywrlock, l, REAL(pthread_rwlock_timedwrlock)(l, until));
}

PRELOAD int pthread_cond_wait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m)
{
	WAIT("wait: condition");
	return REAL(pthread_cond_wait)(c, m);
}

PRELOAD int pthread_cond_timedwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m,
				   const struct timespec *restrict until)
{
	WAIT("wait: condition");
	return REAL(pthread_cond_timedwait)(c, m, until);
}

PRELOAD int pthread_join(pthread_t thread, void **ret)
{
	WAIT("wait: join");
	return REAL(pthread_join)(thread, ret);
}

PRELOAD int pthread_timedjoin_np(pthread_t thread, void **ret, const struct timespec *until)
{
	WAIT("wait: join");
	return REAL(pthread_timedjoin_np)(thread, ret, until);
}

PRELOAD int pthread_barrier_wait(pthread_barrier_t *b)
{
	WAIT("wait: barrier");
	return REAL(pthread_barrier_wait)(b);
}

PRELOAD int sem_wait(sem_t *s)
{
	WAIT("wait: semaphore");
	return REAL(sem_wait)(s);
}

PRELOAD int sem_timedwait(sem_t *restrict s, const struct timespec *restrict until)
{
	WAIT("wait: semaphore");
	return REAL(sem_timedwait)(s, until);
}

#if __GLIBC_PREREQ(2, 30)
PRELOAD int sem_clockwait(sem_t *restrict s, clockid_t clock, const struct timespec *restrict until)
{
	WAIT("wait: semaphore");
	return REAL(sem_clockwait)(s, clock, until);
}

PRELOAD int pthread_mutex_clocklock(pthread_mutex_t *restrict m, clockid_t clock,
				    const struct timespec *restrict until)
{
	LOCK(pthread_mutex_trylock, m, REAL(pthread_mutex_clocklock)(m, clock, until));
}

PRELOAD int pthread_rwlock_clockrdlock(pthread_rwlock_t *restrict l, clockid_t clock,
				       const struct timespec *restrict until)
{
	LOCK(pthread_rwlock_tryrdlock, l, REAL(pthread_rwlock_clockrdlock)(l, clock, until));
}

PRELOAD int pthread_rwlock_clockwrlock(pthread_rwlock_t *restrict l, clockid_t clock,
				       const struct timespec *restrict until)
{
	LOCK(pthread_rwlock_trywrlock, l, REAL(pthread_rwlock_clockwrlock)(l, clock, until));
}

PRELOAD int pthread_cond_clockwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m,
				   clockid_t clock, const struct timespec *restrict until)
{
	WAIT("wait: condition");
	return REAL(pthread_cond_clockwait)(c, m, clock, until);
}
#endif

#if __GLIBC_PREREQ(2, 31)
PRELOAD int pthread_clockjoin_np(pthread_t thread, void **ret, clockid_t clock,
				 const struct timespec *until)
{
	WAIT("wait: join");
	return REAL(pthread_clockjoin_np)(thread, ret, clock, until);
}
#endif

/* --- of C11, which libc does not make of those above */

#if __GLIBC_PREREQ(2, 28)
PRELOAD int mtx_lock(mtx_t *m)
{
	LOCK(mtx_trylock, m, REAL(mtx_lock)(m));
}

PRELOAD int mtx_timedlock(mtx_t *restrict m, const struct timespec *restrict until)
{
	LOCK(mtx_trylock, m, REAL(mtx_timedlock)(m, until));
}

PRELOAD int cnd_wait(cnd_t *c, mtx_t *m)
{
	WAIT("wait: condition");
	return REAL(cnd_wait)(c, m);
}

PRELOAD int cnd_timedwait(cnd_t *restrict c, mtx_t *restrict m,
			  const struct timespec *restrict until)
{
	WAIT("wait: condition");
	return REAL(cnd_timedwait)(c, m, until);
}

PRELOAD int thrd_join(thrd_t thread, int *ret)
{
	WAIT("wait: join");
	return REAL(thrd_join)(thread, ret);
}
#endif
