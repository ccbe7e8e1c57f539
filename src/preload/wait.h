/* wait.h - what each function of this library does around the real one:
 *
 *	ssize_t read(int fd, void *to, size_t n)
 *	{
 *		WAIT_FILE("wait: read", fd);
 *		return w.bytes = REAL(read)(fd, to, n);
 *	}
 *
 * The wait ends when its variable does, also where the thread is cancelled: the files that include
 * this are built with -fexceptions. errno stays what the real function has made of it.
 *
 * A lock is tried first, so that one which is free costs no reading of the clock.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PRELOAD_WAIT_H
#define PRELOAD_WAIT_H

#include "real.h"
#include "trace/waiting.h"

#include <sys/types.h>

#define PRELOAD __attribute__((visibility("default")))

typedef struct waiting {
	dck_zone_site *what;
	uint64_t begin;
	int fd;	       /* below 0: none */
	ssize_t bytes; /* the same */
} waiting;

static inline void waiting_end(waiting *w)
{
	if (w->begin)
		dck_wait_end(w->what, w->begin, w->fd, w->bytes);
}

#define WAIT(name) WAIT_FILE(name, -1)
#define WAIT_FILE(name, descriptor)                             \
	static dck_zone_site wait_site = {name, "", 0, 0};      \
	waiting w __attribute__((cleanup(waiting_end))) = {     \
	    .what = &wait_site, .fd = descriptor, .bytes = -1}; \
	w.begin = dck_wait_begin()

#endif
