/* waiting.h - blocking calls of threads, as reported by the library that `deepclock trace` preloads
 * (src/profiler/preload/waits):
 *
 *	dck_wait w = {.what = &site, .fd = fd, .bytes = -1};
 *
 *	dck_wait_begin(&w);
 *	w.bytes = n = read(fd, to, size);
 *	dck_wait_end(&w);
 *
 * A wait of at least --waits becomes a range, written when it is over: in between its thread ran
 * only signal handlers, whose events the drain sorts by time. A wait that is not over when its
 * thread or the recording ends is written then, as an unfinished range: the lane stores the open
 * wait. Both functions may be called anywhere: they take no lock, allocate nothing and preserve
 * errno.
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
	/* set by dck_wait_begin(). 0: not recorded */
	uint64_t begin;
	/* The wait that a signal handler interrupted. */
	uint64_t outer_begin;
	uintptr_t outer_at;
	uint32_t outer_name;
} dck_wait;

DCK_API void dck_wait_begin(dck_wait *w);
DCK_API void dck_wait_end(dck_wait *w);

/* Called by the preloaded library: blocking calls are observed. */
DCK_API void dck_waits_seen(void);

/* A program may contain a copy of this library, which then records, since it has the zones. That
 * copy calls this function of the preloaded library (trace_start.c), which then records nothing
 * itself and forwards all calls. true: blocking calls will be forwarded. */
typedef struct dck_recorder {
	size_t wait_bytes; /* size of dck_wait, which must be equal in both */
	void (*wait_begin)(dck_wait *w);
	void (*wait_end)(dck_wait *w);
	bool (*flush)(void);
	bool (*leave)(void);
} dck_recorder;
DCK_API bool dck_recorder_delegate(const dck_recorder *to);

/* Ends the recording as dck_trace_end() does, and passes the message of result/zone_result.h on, of
 * n bytes; it is not called if nothing was recorded. libdeepclock calls this, whose recorder may be
 * in libdeepclock_zones, with an allocator of its own. */
typedef dck_status dck_result_take(void *self, const void *bytes, size_t n, dck_err *err);
DCK_API dck_status dck_recorder_end(dck_result_take *take, void *self, dck_err *err);

/* For the recorder: the shortest wait that is recorded; UINT64_MAX: none is. */
void waits_from(uint64_t ticks);
bool waits_seen(void);
/* Delegates to that recorder from now on. */
void waits_delegate_to(const dck_recorder *to);
const dck_recorder *waits_handed_to(void); /* NULL: none */
/* For the drain: returns whether a wait of `ticks` is recorded, as set at the start of
 * recording. */
bool waits_are_recorded(uint64_t ticks);

#endif
