/* sample_source.h - who takes samples: perf_event from outside, or the program's threads
 * themselves, in handlers of signals. Both emit the same events, whose time is os_perf_now_ns().
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_SAMPLE_SOURCE_H
#define SAMPLE_SAMPLE_SOURCE_H

#include "deepclock/sample.h"

#include "base/mem.h"
#include "record/build.h"
#include "profiler/sample/sample_event.h"

typedef struct sample_sink {
	void (*event)(void *self, const sample_event *e);
	void *self;
} sample_sink;

typedef struct sample_source {
	const char *(*name)(void *self); /* "perf_event"; static */
	/* The calling thread starts the program afterwards. argv NULL: there is none to start.
	 * E_UNSUP: not possible here, or not for this program; the sentence says why. */
	dck_status (*open)(const dck_sample_config *c, char *const *argv, void **ret, dck_err *err);
	/* Variables of the program's environment, "NAME=VALUE", into set[*n...]; at most max of
	 * them. NULL: none. */
	void (*environment)(void *self, mem_arena *a, const char **set, size_t max, size_t *n);
	/* A process that runs. NULL: only programs that are started. */
	dck_status (*attach)(void *self, int pid, dck_err *err);
	/* Until there may be something to take, or so many milliseconds. */
	void (*wait)(void *self, int ms);
	/* Emits what there is, in the order of time. last: all of it. */
	void (*drain)(void *self, const sample_sink *to, bool last);
	void (*stop)(void *self); /* no new samples */
	/* Its events report when threads leave their CPU. NULL: they do not. */
	bool (*sees_waits)(void *self);
	void (*facts)(void *self, record_builder *b); /* how it was done */
	/* What a sample costs the program, in ns; 0: not known. *ret_how: static. The last call
	 * before close(). */
	double (*price)(void *self, const char **ret_how);
	void (*close)(void *self);
} sample_source;

extern const sample_source sample_by_perf, sample_inside;

#endif
