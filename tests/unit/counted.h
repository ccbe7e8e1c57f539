/* counted.h - the greatest memory in use, of all that the library allocates.
 *
 *	counted_begin();
 *	... r = f(); dck_record_free(r) ...
 *	assert_true(counted_end() < 1000000);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_COUNTED_H
#define TESTS_COUNTED_H

#include "deepclock/base.h"

#include <malloc.h>
#include <stdlib.h>

static size_t counted_bytes, counted_most;

static inline void *counted_add(void *p)
{
	counted_bytes += malloc_usable_size(p);
	counted_most = counted_bytes > counted_most ? counted_bytes : counted_most;
	return p;
}

static inline void *counted_alloc(void *self, size_t bytes)
{
	(void)self;
	return counted_add(malloc(bytes));
}

static inline void *counted_resize(void *self, void *old, size_t bytes)
{
	(void)self;
	counted_bytes -= malloc_usable_size(old);
	return counted_add(realloc(old, bytes));
}

static inline void counted_release(void *self, void *p)
{
	(void)self;
	counted_bytes -= malloc_usable_size(p);
	free(p);
}

static inline void counted_begin(void)
{
	static const dck_allocator counting = {counted_alloc, counted_resize, counted_release,
					       NULL};

	counted_bytes = counted_most = 0;
	dck_set_allocator(&counting);
}

/* Returns the most bytes at once. What was allocated since the begin has been released. */
static inline size_t counted_end(void)
{
	dck_set_allocator(NULL);
	return counted_most;
}

#endif
