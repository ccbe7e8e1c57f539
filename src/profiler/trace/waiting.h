/* waiting.h - what threads wait for, as reported by the library that `deepclock trace` preloads
 * (src/profiler/preload/waits):
 *
 *	dck_wait w = {.what = &site, .fd = fd, .bytes = -1};
 *
 *	dck_wait_begin(&w);
 *	w.bytes = n = read(fd, to, size);
 *	dck_wait_end(&w);
 *
 * What took at least as long as --waits becomes a range, written when it is over: its thread did
 * nothing else meanwhile but signal handlers, whose events the drain puts in order by their times.
 * One that is not over when its thread ends, or the recording does, is written then, and is open:
 * the lane knows what its thread waits for. Both may be called anywhere: no lock is taken, no
 * memory requested, errno stays.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_WAITING_H
#define TRACE_WAITING_H

#include "deepclock/trace.h"
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
 * That copy calls this of the preloaded one (trace_start.c), which then records nothing itself and
 * forwards all calls. true: blocking calls will be forwarded. */
typedef struct dck_recorder {
	size_t wait_bytes; /* of dck_wait, by which both must mean the same */
	void (*wait_begin)(dck_wait *w);
	void (*wait_end)(dck_wait *w);
	bool (*flush)(void);
	bool (*leave)(void);
} dck_recorder;
DCK_API bool dck_recorder_yield(const dck_recorder *to);

/* Ends the recording as dck_trace_end() does, and passes the message of result/zone_result.h on, of
 * n bytes; it is not called if nothing was recorded. libdeepclock calls this, whose recorder may be
 * in libdeepclock_zones, with an allocator of its own. */
typedef dck_status dck_result_take(void *self, const void *bytes, size_t n, dck_err *err);
DCK_API dck_status dck_recorder_end(dck_result_take *take, void *self, dck_err *err);

/* For the recorder: the shortest wait that is recorded; UINT64_MAX: none is. */
void waits_from(uint64_t ticks);
bool waits_seen(void);
/* From now on: to that recorder. */
void waits_delegate_to(const dck_recorder *to);
const dck_recorder *waits_handed_to(void); /* NULL: to none */
/* For the drain: whether a wait of this many ticks is recorded, as set when recording began. */
bool waits_are_told(uint64_t ticks);

#endif
