/* waiting.h - what threads wait for, as the library tells that `deepclock trace` puts in front of a
 * program (src/preload):
 *
 *	dck_wait w = {.what = &site, .fd = fd, .bytes = -1};
 *
 *	dck_wait_begin(&w);
 *	w.bytes = n = read(fd, to, size);
 *	dck_wait_end(&w);
 *
 * What took at least as long as --waits says becomes a range, told when it is over: its thread did
 * nothing else meanwhile but signal handlers, whose events the drain puts in order by their times.
 * One that is not over when its thread ends, or the recording does, is told then, and is open: the
 * lane knows what its thread waits for. Both may be called anywhere: no lock is taken, no memory
 * asked for, errno stays.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_WAITING_H
#define TRACE_WAITING_H

#include "deepclock/zone.h"

typedef struct dck_wait {
	dck_zone_site *what;
	int fd;	       /* below 0: none */
	int64_t bytes; /* the same */
	/* dck_wait_begin()'s own. 0: it is not recorded */
	uint64_t begin;
	/* What it interrupts, in the handler of a signal. */
	uint64_t outer_begin;
	uintptr_t outer_at;
	uint32_t outer_name;
} dck_wait;

DCK_API void dck_wait_begin(dck_wait *w);
DCK_API void dck_wait_end(dck_wait *w);

/* The library above is there. */
DCK_API void dck_waits_seen(void);

/* A program may have a copy of this library in it, which then records, since the zones are there.
 * That copy calls this of the one that was put in front (trace_start.c), which records no more, and
 * hands on what it is told. true: what the program waits for will be. */
typedef struct dck_recorder {
	size_t wait_bytes; /* of dck_wait, by which both must mean the same */
	void (*wait_begin)(dck_wait *w);
	void (*wait_end)(dck_wait *w);
	bool (*flush)(void);
	bool (*leave)(void);
} dck_recorder;
DCK_API bool dck_recorder_yield(const dck_recorder *to);

/* For whoever starts and stops recording: the least time that is told; UINT64_MAX: none is. */
void waits_from(uint64_t ticks);
bool waits_seen(void);
/* From now on: to that recorder. */
void waits_hand_on(const dck_recorder *to);
const dck_recorder *waits_handed_to(void); /* NULL: to none */
/* For the drain: whether so many ticks are told, by what was said when recording began. */
bool waits_are_told(uint64_t ticks);

#endif
