/* wait_lock.c - locks, condition variables, threads that end.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include <errno.h>
#include <pthread.h>

/* Taken; in the second case its last owner has died with it, which the caller must be told. */
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

#if __GLIBC_PREREQ(2, 30)
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
