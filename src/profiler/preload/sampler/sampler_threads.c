/* sampler_threads.c - interposes on the start and end of threads. Threads made by a direct clone()
 * are not observed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sampler.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>

typedef struct begin {
	void *(*f)(void *);
	thrd_start_t c11;
	void *arg;
} begin;

/* Also when the thread leaves by pthread_exit() or is cancelled. */
static void threads_ends(void *unused)
{
	(void)unused;
	sampler_thread_ends();
}

static begin start_args_move(void *arg)
{
	const begin b = *(begin *)arg;

	free(arg);
	return b;
}

static void *threads_begins(void *arg)
{
	const begin b = start_args_move(arg);
	void *ret;

	pthread_cleanup_push(threads_ends, NULL);
	sampler_thread_begins();
	ret = b.f(b.arg);
	pthread_cleanup_pop(1);
	return ret;
}

static int begins_c11(void *arg)
{
	const begin b = start_args_move(arg);
	int ret;

	pthread_cleanup_push(threads_ends, NULL);
	sampler_thread_begins();
	ret = b.c11(b.arg);
	pthread_cleanup_pop(1);
	return ret;
}

SAMPLER_API int pthread_create(pthread_t *restrict t, const pthread_attr_t *restrict attr,
			       void *(*f)(void *), void *restrict arg)
{
	__typeof__(&pthread_create) real = SAMPLER_NEXT(pthread_create);
	begin *b = sampler_signal() ? malloc(sizeof *b) : NULL;

	if (!b)
		return real(t, attr, f, arg);
	*b = (begin){.f = f, .arg = arg};
	const int e = real(t, attr, threads_begins, b);
	if (e)
		free(b);
	return e;
}

SAMPLER_API int thrd_create(thrd_t *t, thrd_start_t f, void *arg)
{
	__typeof__(&thrd_create) real = SAMPLER_NEXT(thrd_create);
	begin *b = sampler_signal() ? malloc(sizeof *b) : NULL;

	if (!b)
		return real(t, f, arg);
	*b = (begin){.c11 = f, .arg = arg};
	const int e = real(t, begins_c11, b);
	if (e != thrd_success)
		free(b);
	return e;
}
