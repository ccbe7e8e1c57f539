/* sample_perf.c - sample_source by the kernel's perf_event: samples of any program from outside,
 * through one ring buffer for each CPU.
 *
 * drain() merges the rings into one stream in order of time (perf_ring.h) and emits each record as
 * an event (perf_decode.h). Records younger than SETTLED_NS stay in their ring until the next
 * drain, because another CPU may still publish an older one; the last drain takes all. attach()
 * follows the threads of a running process until a round finds no new one, ATTACH_ROUNDS at most,
 * because threads that are not followed yet may create others; a thread that is then sampled twice
 * counts once (perf_roots.h).
 *
 * Invariants: one thread calls all functions; rings are not trusted: a damaged one is emptied, and
 * is reported as lost samples. price(), the last call, closes the rings first, because the kernel
 * limits the memory of all rings together. Source: perf_event_open(2).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/sample/sample_source.h"

#include "base/err.h"
#include "os/os.h"
#include "os/counters/perf_sampling.h"
#include "os/process/other_process.h"
#include "profiler/sample/perf_decode.h"
#include "profiler/sample/perf_ring.h"
#include "profiler/sample/perf_roots.h"
#include "profiler/sample/sample_overhead.h"

#include <string.h>

/* Records that are younger may be followed by older ones in another CPU's ring. */
#define SETTLED_NS UINT64_C(2000000)

enum { RINGS_BYTES = 64 << 20, ATTACH_ROUNDS = 16 };

typedef struct by_perf {
	os_perf_config config;
	os_perf *perf;
	perf_rings rings;
	perf_ring *ring;
	unsigned char *whole;
	perf_roots roots; /* of threads, after attach() */
} by_perf;

static void perf_close(void *self)
{
	by_perf *s = self;

	if (!s)
		return;
	os_perf_close(s->perf);
	mem_free(s->ring);
	mem_free(s->whole);
	perf_roots_done(&s->roots);
	mem_free(s);
}

static dck_status perf_open(const dck_sample_config *c, char *const *argv, void **ret, dck_err *err)
{
	by_perf *s = mem_zalloc(1, sizeof *s);

	(void)argv;
	DCK_NEED(s, err, "for the samples of a program");
	s->config = (os_perf_config){.period_ns = 1000000000u / c->rate,
				     .registers = perf_registers(),
				     .stack_bytes = (uint32_t)(c->stack_bytes & ~UINT64_C(7)),
				     .ring_bytes = RINGS_BYTES,
				     .switches = c->wall};
	dck_status st =
	    UNWIND_HERE
		? os_perf_open(&s->config, &s->perf, err)
		: ERR_SET(err, E_UNSUP, "the stacks of this processor are not known to deepclock");
	if (st == DCK_OK) {
		s->rings.n = os_perf_rings(s->perf);
		s->ring = mem_zalloc(s->rings.n, sizeof *s->ring);
		s->whole = mem_alloc(PERF_RECORD_BYTES);
		if (!s->ring || !s->whole)
			st = ERR_NO_MEMORY(err, "for the samples of a program");
	}
	if (st != DCK_OK) {
		perf_close(s);
		return st;
	}
	s->rings.ring = s->ring;
	s->rings.whole = s->whole;
	*ret = s;
	return DCK_OK;
}

/* --- a program that runs already */

typedef struct attaching {
	os_perf *perf;
	perf_roots *roots;
	int *followed; /* threads */
	size_t n, cap, more;
	dck_status status;
	dck_err *err;
} attaching;

static void attach_thread(void *self, int tid)
{
	attaching *a = self;

	if (a->status != DCK_OK)
		return;
	for (size_t i = 0; i < a->n; i++)
		if (a->followed[i] == tid)
			return;
	if (!mem_reserve(&a->followed, &a->cap, a->n + 1, sizeof *a->followed)) {
		a->status = ERR_NO_MEMORY(a->err, "for the threads of a program");
		return;
	}
	a->followed[a->n++] = tid;
	a->more++;
	dck_status st = os_perf_follow(a->perf, tid, a->err);
	if (st == DCK_OK)
		perf_roots_follow(a->roots, tid, os_perf_now_ns());
	if (st != DCK_E_ABSENT) /* it may end at any time */
		a->status = st;
}

/* Repeats until no thread is new, because threads that are not followed yet may create others. */
static dck_status perf_attach(void *self, int pid, dck_err *err)
{
	by_perf *s = self;
	attaching a = {.perf = s->perf, .roots = &s->roots, .err = err};

	for (int round = 0; round < ATTACH_ROUNDS && a.status == DCK_OK; round++) {
		a.more = 0;
		os_process_threads_each(pid, attach_thread, &a);
		if (a.more == 0)
			break;
	}
	mem_free(a.followed);
	perf_roots_settle(&s->roots, os_perf_now_ns());
	if (a.status == DCK_OK && a.n == 0)
		DCK_FAIL(err, E_ABSENT, "there is no process %d", pid);
	return a.status;
}

static void perf_wait(void *self, int ms)
{
	os_perf_wait(((by_perf *)self)->perf, ms);
}

static void perf_drain(void *self, const sample_sink *to, bool last)
{
	by_perf *s = self;
	const uint64_t until = last ? UINT64_MAX : os_perf_now_ns() - SETTLED_NS;
	const struct perf_event_header *h;
	sample_event e;

	for (size_t i = 0; i < s->rings.n; i++) {
		const os_perf_ring *r = os_perf_ring_at(s->perf, i);

		if (r) {
			s->ring[i].page = r->page;
			s->ring[i].data = r->data;
			s->ring[i].bytes = r->bytes;
		}
	}
	const uint64_t damaged = s->rings.damaged;
	perf_rings_begin(&s->rings);
	while ((h = perf_rings_next(&s->rings, until))) {
		perf_record_decode(h, OS_PERF_SWITCH, &e);
		if (e.kind != SAMPLE_NOTHING &&
		    perf_roots_counts(&s->roots, &e, os_perf_root(s->perf, e.id)))
			to->event(to->self, &e);
	}
	perf_rings_end(&s->rings);
	if (s->rings.damaged > damaged) {
		e = (sample_event){.kind = SAMPLE_LOST, .as.lost.n = s->rings.damaged - damaged};
		to->event(to->self, &e);
	}
}

static void perf_stop(void *self)
{
	os_perf_stop(((by_perf *)self)->perf);
}

static const char *perf_name(void *self)
{
	(void)self;
	return "perf_event";
}

static void perf_facts(void *self, record_builder *b)
{
	const by_perf *s = self;

	record_fact_text(b, "sample", "event", "cpu-clock");
	record_fact_bool(b, "sample", "kernel", os_perf_sees_kernel(s->perf));
	record_fact_int(b, "sample", "stack_size", DCK_UNIT_BYTE, s->config.stack_bytes);
}

static bool perf_sees_waits(void *self)
{
	return os_perf_sees_switches(((by_perf *)self)->perf);
}

static double perf_price(void *self, const char **ret_how)
{
	by_perf *s = self;

	/* The kernel limits the memory of ring buffers. */
	os_perf_close(s->perf);
	s->perf = NULL;
	*ret_how = "a loop of the same work under perf_event and without, in turns";
	return sample_overhead_of_perf(&s->config);
}

const sample_source sample_by_perf = {
    .name = perf_name,
    .open = perf_open,
    .attach = perf_attach,
    .wait = perf_wait,
    .drain = perf_drain,
    .stop = perf_stop,
    .sees_waits = perf_sees_waits,
    .facts = perf_facts,
    .price = perf_price,
    .close = perf_close,
};
