/* sample_inside.c - sample_source inside the program: the library in src/profiler/preload/sampler
 * samples each thread in a signal handler and fills slots of shared memory. The signals come from
 * perf_event if the kernel permits it, else from POSIX timers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/sample/sample_source.h"

#include "base/err.h"
#include "os/os.h"
#include "os/counters/perf_sampling.h"
#include "os/file/shared_memory.h"
#include "profiler/sample/sample_overhead.h"
#include "profiler/sample/slots_drain.h"

typedef struct inside {
	const dck_sample_config *config;
	int fd;
	const char *preload; /* LD_PRELOAD=... */
	mem_arena *arena;
	slots_drain drain;
} inside;

/* Above that rate the handlers would take the program's time. */
enum { PERIOD_LEAST_NS = 100000 };

static sample_slots_clock inside_clock_of(const dck_sample_config *c)
{
	bool kernel;

	if (c->source == DCK_SAMPLE_TIMER || os_perf_permits(&kernel, NULL) != DCK_OK)
		return SAMPLE_CLOCK_TIMER;
	return kernel ? SAMPLE_CLOCK_EVENT : SAMPLE_CLOCK_USER;
}

static void inside_close(void *self)
{
	inside *s = self;

	if (!s)
		return;
	os_shared_close(s->drain.slots, sizeof *s->drain.slots, s->fd);
	mem_arena_free(s->arena);
	mem_free(s);
}

static dck_status sample_inside_open(const dck_sample_config *c, char *const *argv, void **ret,
				     dck_err *err)
{
	static const char *const remedies[OS_PRELOAD_OBSTACLES] = {
	    [OS_PRELOAD_STATIC] = OS_PRELOAD_LINKED,
	    [OS_PRELOAD_SETUID] = OS_PRELOAD_AS_USER,
	};
	inside *s = mem_zalloc(1, sizeof *s);
	const char *why = NULL;
	dck_status st = DCK_OK;

	DCK_NEED(s, err, "for the samples of a program");
	s->config = c;
	s->fd = -1;
	s->arena = mem_arena_new(0);
	if (!s->arena)
		st = ERR_NO_MEMORY(err, "for the samples of a program");
	if (st == DCK_OK) {
		s->preload = os_preload_env(s->arena, SAMPLE_LIBRARY, argv[0], remedies, &why);
		if (!s->preload)
			st = ERR_SET(err, E_UNSUP, "no samples can be taken inside '%.200s': %s",
				     argv[0], why);
	}
	DCK_NEXT(st, os_shared_open(sizeof *s->drain.slots, (void **)&s->drain.slots, &s->fd, err));
	if (st != DCK_OK) {
		inside_close(s);
		return st;
	}
	s->drain.slots->n = SAMPLE_SLOTS;
	s->drain.slots->clock = inside_clock_of(c);
	s->drain.slots->magic = SAMPLE_SLOTS_MAGIC;
	*ret = s;
	return DCK_OK;
}

static void inside_environment(void *self, mem_arena *a, const char **set, size_t max, size_t *n)
{
	inside *s = self;
	const uint64_t period = 1000000000u / s->config->rate;

	if (*n + 2 > max)
		return;
	set[(*n)++] = s->preload;
	set[(*n)++] =
	    mem_arena_fmt(a, "%s=%llu /proc/%ld/fd/%d", SAMPLE_VARIABLE,
			  (unsigned long long)(period < PERIOD_LEAST_NS ? PERIOD_LEAST_NS : period),
			  os_process_id(), s->fd);
}

static void inside_wait(void *self, int ms)
{
	(void)self;
	os_sleep_ns((uint64_t)ms * 1000000u, NULL, NULL);
}

static void inside_drain(void *self, const sample_sink *to, bool last)
{
	(void)last;
	slots_drain_all(&((inside *)self)->drain, to);
}

static void inside_stop(void *self)
{
	atomic_store(&((inside *)self)->drain.slots->over, 1);
}

/* Every thread reports the kind of its clock. */
static const char *inside_name(void *self)
{
	const sample_slots *slots = ((inside *)self)->drain.slots;

	return atomic_load(&slots->by_event) ? "perf_event in the program" : "timers";
}

static void inside_facts(void *self, record_builder *b)
{
	const sample_slots *slots = ((inside *)self)->drain.slots;
	const uint32_t by_event = atomic_load(&slots->by_event),
		       by_timer = atomic_load(&slots->by_timer);

	record_fact_text(b, "sample", "event", by_event ? "cpu-clock" : "thread CPU time");
	record_fact_bool(b, "sample", "kernel", false);
	if (by_event && by_timer)
		record_fact_int(b, "sample", "threads_by_timers", DCK_UNIT_ONE, by_timer);
}

static double inside_price(void *self, const char **ret_how)
{
	const inside *s = self;

	*ret_how = "time in the handlers, and the cost of a signal in this process";
	const slots_drain *d = &s->drain;

	return d->taken ? (double)d->taken_ns / (double)d->taken + sample_overhead_of_signal() : 0;
}

const sample_source sample_inside = {
    .name = inside_name,
    .open = sample_inside_open,
    .environment = inside_environment,
    .wait = inside_wait,
    .drain = inside_drain,
    .stop = inside_stop,
    .facts = inside_facts,
    .price = inside_price,
    .close = inside_close,
};
