/* fault_alloc.h - an allocator whose n-th allocation fails, and that counts the blocks not yet
 * freed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_ALLOC_H
#define FAULT_ALLOC_H

#include "deepclock/base.h"
#include <stdlib.h>

typedef struct fault_alloc {
	size_t calls, fail_at; /* 1: the first; 0: none fails */
	size_t out;	       /* not yet freed */
} fault_alloc;

static bool fault_alloc_fails(fault_alloc *f)
{
	return ++f->calls == f->fail_at;
}

static void *fault_alloc_alloc(void *self, size_t bytes)
{
	fault_alloc *f = self;
	void *p = fault_alloc_fails(f) ? NULL : malloc(bytes);
	f->out += p != NULL;
	return p;
}

static void *fault_alloc_resize(void *self, void *old, size_t bytes)
{
	fault_alloc *f = self;
	void *p = fault_alloc_fails(f) ? NULL : realloc(old, bytes);
	f->out += p && !old;
	return p;
}

static void fault_alloc_release(void *self, void *old)
{
	((fault_alloc *)self)->out--;
	free(old);
}

/* Installs *f as the allocator; dck_set_allocator(NULL) ends it. */
static inline void fault_alloc_begin(fault_alloc *f, size_t fail_at)
{
	*f = (fault_alloc){.fail_at = fail_at};
	dck_set_allocator(
	    &(dck_allocator){fault_alloc_alloc, fault_alloc_resize, fault_alloc_release, f});
}

#endif
