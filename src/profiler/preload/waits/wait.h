/* wait.h - what each function of this library does around the real one:
 *
 *	ssize_t read(int fd, void *to, size_t n)
 *	{
 *		WAIT_FILE("wait: read", fd);
 *		return w.bytes = REAL(read)(fd, to, n);
 *	}
 *
 * The wait ends when its variable does. Where the thread is cancelled in between, its lane knows
 * (trace/waiting.h): nothing here is to be unwound, which would need a library of the compiler's
 * that the program may have a newer one of. errno stays what the real function has made of it.
 *
 * A lock is tried first, so that one which is free costs no reading of the clock.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PRELOAD_WAIT_H
#define PRELOAD_WAIT_H

#include "real.h"
#include "profiler/trace/waiting.h"

#include <sys/types.h>

#define PRELOAD __attribute__((visibility("default")))

#define WAIT(name) WAIT_FILE(name, -1)
#define WAIT_FILE(name, descriptor)                             \
	static dck_zone_site wait_site = {name, "", 0, 0};      \
	dck_wait w __attribute__((cleanup(dck_wait_end))) = {   \
	    .what = &wait_site, .fd = descriptor, .bytes = -1}; \
	dck_wait_begin(&w)

#endif
