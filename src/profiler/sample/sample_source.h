/* sample_source.h - interface of sampling sources: perf_event from outside, or signal handlers in
 * the program's threads. Both emit the same events, whose time is os_perf_now_ns().
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
	/* The calling thread starts the program afterwards. argv NULL: attach only. E_UNSUP: not
	 * possible here, or not for this program; the message has the reason. */
	dck_status (*open)(const dck_sample_config *c, char *const *argv, void **ret, dck_err *err);
	/* Variables of the program's environment, "NAME=VALUE", into set[*n...]; at most max of
	 * them. NULL: none. */
	void (*environment)(void *self, mem_arena *a, const char **set, size_t max, size_t *n);
	/* Attaches to a running process. NULL: only started programs are supported. */
	dck_status (*attach)(void *self, int pid, dck_err *err);
	/* Waits until samples may be available, at most `ms` milliseconds. */
	void (*wait)(void *self, int ms);
	/* Emits the available samples in order of time. last: all of them. */
	void (*drain)(void *self, const sample_sink *to, bool last);
	void (*stop)(void *self); /* no new samples */
	/* Its events report when threads leave their CPU. NULL: no. */
	bool (*sees_waits)(void *self);
	void (*facts)(void *self, record_builder *b); /* describes the method */
	/* Returns the cost of a sample to the program, in ns; 0: unknown. *ret_how: static. The
	 * last call before close(). */
	double (*price)(void *self, const char **ret_how);
	void (*close)(void *self);
} sample_source;

extern const sample_source sample_by_perf, sample_inside;

#endif
