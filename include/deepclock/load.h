/* load.h - how much load does a subject take? Requests that come one after the other, on several
 * streams at once, all at the same time, or at times of their own; and the highest rate that keeps
 * a limit on latency.
 *
 *     dck_subject s;  dck_load_config c;  dck_record *r;  dck_err err;
 *     dck_subject_init(&s);
 *     dck_load_config_init(&c);
 *     s.kind = DCK_SUBJECT_MODEL;
 *     s.text = "zoo:resnet18";
 *     c.rate_hz = 20;
 *     c.slo.item[c.slo.n++] = "p99<=100ms";
 *     if (dck_load(&s, &c, NULL, &r, &err) == DCK_OK)
 *             printf("%d\n", dck_load_gate(r));
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_LOAD_H
#define DCK_LOAD_H

#include "bench.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Initialise it with its _init function. Options: dck_load_options. */
typedef struct dck_load_config {
	uint32_t struct_size; /* set by dck_load_config_init() */
	int scenario;	      /* index into dck_load_scenarios */
	uint64_t streams;     /* contexts that run at the same time, each in a thread of its own */
	bool serial;	      /* runs of different streams never overlap */
	double rate_hz;	      /* requests that arrive per second; 0: none given */
	int arrivals;	      /* index into dck_load_arrivals */
	const char *trace;    /* a file of arrival times; NULL: none */
	uint64_t time_ns;     /* of one measurement; 0: by itself */
	uint64_t requests;    /* at most so many in one measurement; 0: no such limit */
	uint64_t max_queue;   /* more waiting requests end it: unstable; 0: by itself */
	dck_list slo;	      /* "p99<=50ms" */
	double confidence;    /* of the verdict on each */
	bool find_peak;	      /* search the highest rate that holds all of them */
	double precision;     /* of that rate */
	uint64_t max_time_ns; /* of the whole search */
	const char *warmup;   /* as dck_plan.warmup */
	uint64_t max_warmup_ns;
	double level; /* of every interval */
	uint64_t keep;
	uint64_t seed; /* of the arrivals */
	/* NULL: the best of this machine. A stream waits until this clock reaches the next arrival,
	 * so it must advance by itself. */
	const dck_clock *clock;
	const char *title; /* the record's `command`; NULL: none */
} dck_load_config;
DCK_API extern const dck_opt dck_load_options[];
DCK_API extern const char *const dck_load_scenarios[]; /* "auto", "single", "multi", "offline",
							  "server", NULL */
DCK_API extern const char *const dck_load_arrivals[];  /* "poisson", "constant", NULL */

/* Writes the defaults into the first argument, of struct_size bytes. @since 0.1 */
DCK_API void dck_load_config_init_sized(dck_load_config *c, uint32_t struct_size);
static inline void dck_load_config_init(dck_load_config *c)
{
	dck_load_config_init_sized(c, (uint32_t)sizeof *c);
}

/* Measures under load. Latency is counted from the time at which a request was scheduled to arrive,
 * so that waiting is part of it; where nothing is scheduled (single, multi, offline), from the
 * moment at which a stream takes it. A FUNCTION is called from several threads at once when there
 * are several streams and `serial` is not set. The record has latency/..., load/...,
 * throughput/items, the table load/summary, load/steps of a search, and facts load/verdict and
 * load/verdict/SLO: "met", "violated" or "inconclusive". *ret is owned: dck_record_free(). c NULL:
 * defaults; watch NULL: silent.
 * When the subject fails or is cancelled after the first request, the call still succeeds: the
 * record is incomplete and a note says why. Errors: those of dck_bench(); E_UNSUP: the engine makes
 * no further context for more than one stream. @since 0.1 */
DCK_API dck_status dck_load(const dck_subject *s, const dck_load_config *c,
			    const dck_observer *watch, dck_record **ret, dck_err *err) DCK_MUST_USE;

/* What a script asks of such a record: 0: every limit is met, or there is none; 3: one is violated;
 * 4: inconclusive. @since 0.1 */
DCK_API int dck_load_gate(const dck_record *r);

#ifdef __cplusplus
}
#endif
#endif
