/* sampler_threads.c - interposes on the start and end of threads. Threads made by a direct clone()
 * are not observed. Our handler runs on a thread's stack: one that the program asked to be small
 * gets room for it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sampler.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

/* Stacks below STACK_SMALL get STACK_MORE in addition: the kernel's frame, and SAMPLER_STACK. On
 * memory of the program that is below STACK_LEAST a thread is not sampled. */
enum { STACK_SMALL = 128 << 10, STACK_MORE = 32 << 10, STACK_LEAST = 24 << 10 };

typedef struct begin {
	void *(*f)(void *);
	thrd_start_t c11;
	void *arg;
	bool tight; /* its stack has no room for the handler */
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
	sampler_signal_unblock(); /* pthread_attr_setsigmask_np() may have blocked it */
	if (!b.tight)
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

/* Returns the attributes with a larger stack, in *own, if theirs is small and not the program's
 * memory. *ret_tight: it is, and too small. */
static const pthread_attr_t *roomy(const pthread_attr_t *attr, pthread_attr_t *own, bool *ret_tight)
{
	size_t size;
	void *low;

	/* Attributes without a size have 0, which is the default size. */
	if (!attr || pthread_attr_getstack(attr, &low, &size) != 0 || size == 0 ||
	    size >= STACK_SMALL)
		return attr;
	/* Without memory of the program the lowest address is that of a stack which ends at 0. */
	*ret_tight = (uintptr_t)low + size != 0 && size < STACK_LEAST;
	if ((uintptr_t)low + size != 0)
		return attr;
	memcpy(own, attr, sizeof *own); /* which owns nothing, and lives during the call */
	return pthread_attr_setstacksize(own, size + STACK_MORE) == 0 ? own : attr;
}

SAMPLER_API int pthread_create(pthread_t *restrict t, const pthread_attr_t *restrict attr,
			       void *(*f)(void *), void *restrict arg)
{
	pthread_attr_t own;
	__typeof__(&pthread_create) real = SAMPLER_NEXT(pthread_create);
	begin *b = sampler_signal() ? malloc(sizeof *b) : NULL;

	if (!b)
		return real(t, attr, f, arg);
	*b = (begin){.f = f, .arg = arg};
	const pthread_attr_t *with = roomy(attr, &own, &b->tight);
	const int e = real(t, with, threads_begins, b);
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
