/* waiting.h - what threads wait for, as the library tells that `deepclock trace` puts in front of a
 * program (src/preload):
 *
 *	uint64_t begin = dck_wait_begin();
 *	n = read(fd, to, size);
 *	dck_wait_end(&site, begin, fd, n);
 *
 * What took at least as long as --waits says becomes a range, told when it is over: its thread did
 * nothing else meanwhile but signal handlers, whose events the drain puts in order by their times.
 * Both may be called anywhere: no lock is taken, no memory asked for, errno stays.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_WAITING_H
#define TRACE_WAITING_H

#include "deepclock/zone.h"

/* 0: it is not recorded. */
DCK_API uint64_t dck_wait_begin(void);
/* begin 0: nothing happens. fd, bytes: below 0: none. */
DCK_API void dck_wait_end(dck_zone_site *what, uint64_t begin, int fd, int64_t bytes);

/* The library above is there. */
DCK_API void dck_waits_seen(void);

/* For whoever starts and stops recording: the least time that is told; UINT64_MAX: none is. */
void waits_from(uint64_t ticks);
bool waits_seen(void);

#endif
