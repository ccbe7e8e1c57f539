/* load.h - measures latency under load: requests one after the other, on several streams, all at
 * once, or at scheduled arrivals; and finds the highest rate that meets a limit on latency.
 *
 *     dck_subject s;  dck_load_config c;  dck_record *r;  dck_err err;
 *     dck_subject_init(&s);
 *     dck_load_config_init(&c);
 *     s.kind = DCK_SUBJECT_MODEL;
 *     s.text = "zoo:resnet18";
 *     c.rate_hz = 20;
 *     c.slo.item[c.slo.n++] = "p99<=100ms";
 *     if (dck_load(&s, &c, NULL, &r, &err) == DCK_OK)
 *             printf("%d\n", dck_record_gate(r));
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_LOAD_H
#define DCK_LOAD_H

#include "bench.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Initialise it with its _init function. Options: dck_load_options and
 * dck_server_options. */
typedef struct dck_load_config {
	uint32_t struct_size; /* set by dck_load_config_init() */
	int scenario;	      /* index into dck_load_scenarios */
	uint64_t streams;     /* contexts that run concurrently, one per thread */
	bool serial;	      /* runs of different streams do not overlap */
	double rate_hz;	      /* arrivals per second; 0: not given */
	int arrivals;	      /* index into dck_load_arrivals */
	const char *trace;    /* a file of arrival times; NULL: none */
	uint64_t time_ns;     /* of one measurement; 0: automatic */
	uint64_t requests;    /* maximum per measurement; 0: no limit */
	uint64_t max_queue;   /* more queued requests end it as unstable; 0: automatic */
	dck_list slo;	      /* "p99<=50ms" */
	double confidence;    /* confidence of each verdict */
	bool find_peak;	      /* search for the highest rate that meets all limits */
	double precision;     /* of that rate */
	uint64_t max_time_ns; /* of the whole search */
	const char *warmup;   /* as dck_plan.warmup */
	uint64_t max_warmup_ns;
	double level; /* of every interval */
	uint64_t keep;
	uint64_t seed; /* of the arrivals */
	/* NULL: the best of this machine. A stream waits until this clock reaches the next arrival,
	 * so the clock must advance without calls. */
	const dck_clock *clock;
	const char *title; /* the record's `command`; NULL: none */
	/* A server instead of a subject, "http://HOST:PORT/v1/completions", ".../chat/completions"
	 * or ".../v2/models/NAME/infer"; NULL: none. */
	const char *url;
	const char *served_model; /* its name at the server; NULL: none */
	uint64_t prompt_length;	  /* words of each prompt */
	uint64_t new_tokens;	  /* requested of each answer */
	double shared_prefix;	  /* part of the prompt that all requests share, 0 to 1 */
	const char *header_file;  /* lines "Name: value" of each request; NULL: none */
	uint64_t timeout_ns;	  /* of a request, from its scheduled time */
	const char *prompt_file;  /* prompts instead of random ones; NULL: none */
	const char *cacert; /* certificates of authorities, PEM, for https; NULL: the system's */
} dck_load_config;
DCK_API extern const dck_opt dck_load_options[];
DCK_API extern const dck_opt dck_server_options[];     /* of the requests to a server */
DCK_API extern const char *const dck_load_scenarios[]; /* "auto", "single", "multi", "offline",
							  "server", NULL */
DCK_API extern const char *const dck_load_arrivals[];  /* "poisson", "constant", NULL */

/* Writes the defaults into the first argument, of struct_size bytes. @since 0.1 */
DCK_API void dck_load_config_init_sized(dck_load_config *c, uint32_t struct_size);
static inline void dck_load_config_init(dck_load_config *c)
{
	dck_load_config_init_sized(c, (uint32_t)sizeof *c);
}

/* Measures a subject, or the server at c->url with s NULL, under load. Latency starts at the
 * scheduled arrival of a request, and so includes queueing; without a schedule (single, multi,
 * offline) it starts when a stream takes the request. With several streams and without `serial`, a
 * FUNCTION is called from several threads at once. The record has latency/..., load/...,
 * throughput/items, the table load/summary, load/steps of a search, and facts load/verdict and
 * load/verdict/SLO: "met", "violated" or "inconclusive". *ret is owned: dck_record_free(). c NULL:
 * defaults; watch NULL: silent. If the subject fails or is cancelled after the first request, the
 * call still succeeds: the record is incomplete and a note gives the reason. Errors: those of
 * dck_bench(); E_UNSUP: the engine supports only one context, and more streams are requested. Of a
 * server: E_IO, E_ABSENT, E_ENGINE, E_FORMAT if the first request fails. @since 0.1 */
DCK_API dck_status dck_load(const dck_subject *s, const dck_load_config *c,
			    const dck_observer *watch, dck_record **ret, dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
