/* wait.h - wraps each interposed function around the real one:
 *
 *	INTERPOSE_BYTES(ssize_t, read, (int fd, void *to, size_t n), WAIT_FILE("wait: read", fd),
 *			(fd, to, n))
 *
 *	ssize_t read(int fd, void *to, size_t n)
 *	{
 *		WAIT_FILE("wait: read", fd);
 *		return w.bytes = REAL(read)(fd, to, n);
 *	}
 *
 * The wait ends when its variable goes out of scope. Cancellation of the thread in between is
 * handled by its lane (trace/waiting.h): nothing here needs to be unwound, which would require the
 * compiler's unwind library, of which the program may have a newer version. errno is the real
 * function's.
 *
 * A lock is tried first, so that an uncontended lock costs no clock reading.
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

/* Defines an interposed function: `before`, then the real function. */
#define INTERPOSE(result, name, parameters, before, arguments) \
	PRELOAD result name parameters                         \
	{                                                      \
		before;                                        \
		return REAL(name) arguments;                   \
	}
/* The same, of which the result is the number of bytes of the wait that `before` begins. */
#define INTERPOSE_BYTES(result, name, parameters, before, arguments) \
	PRELOAD result name parameters                               \
	{                                                            \
		before;                                              \
		return w.bytes = REAL(name) arguments;               \
	}
#define WAITS(result, name, what, parameters, arguments) \
	INTERPOSE(result, name, parameters, WAIT(what), arguments)

#endif
