/* generate_job.h - state of a running measurement of generation, shared by the files that make it
 * and its record.
 *
 * A case is a prompt length with a batch. A request is one prompt for each sequence of the batch,
 * and the tokens generated from them together; it is the unit of every statistic, because the gaps
 * between its tokens depend on each other.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GENERATE_GENERATE_JOB_H
#define GENERATE_GENERATE_JOB_H

#include "deepclock/generate.h"
#include "measure/prompts/prompt_ids.h"
#include "measure/session.h"
#include "record/others.h"
#include "study/generate/generate_decoder.h"

#define GENERATE_LIST	     16 /* lengths, and batches */
#define GENERATE_CASES	     (GENERATE_LIST * GENERATE_LIST)
#define GENERATE_SHOWN	     64 /* tokens in the record */
#define GENERATE_TOKENS_MAX  100000
#define GENERATE_SLOPE_LEAST 6 /* gaps */

/* Times of one request, in ns. */
typedef struct generate_times {
	double ttft, tpot, e2e;
	double growth;	     /* of the gap, per token; NaN: too few gaps */
	double engine_share; /* of e2e, in the engine's runs */
} generate_times;

typedef struct generate_case {
	uint64_t prompt, batch;
	size_t first, given;   /* the prompts of this length in the file, and their number */
	generate_times *times; /* [n] */
	double *gaps;	       /* [n][new_tokens - 1] */
	size_t n, cap;
	uint64_t tried; /* requests, warm-up included: the number of the next prompt */
	double spent_ns;
	double cache_bytes; /* at the end of a request; 0: not known */
} generate_case;

typedef struct generate_job {
	const dck_subject *subject;
	const dck_generate_config *config;
	const dck_observer *watch;
	record_builder *b;
	os_host host;
	measure_context shared;
	measure_session session;
	prompt_ids prompts;	   /* of the file; owned */
	bool engine_generates;	   /* by its own loop: the steps are not used */
	dck_generation generation; /* of such an engine */
	decoder_layout layout;	   /* of such an engine: the vocabulary alone */
	decoder_steps steps;
	record_others others;
	generate_case cases[GENERATE_CASES];
	size_t ncases;
	uint64_t prompt_max, batch_max;
	/* Of the current request; owned. */
	int64_t *ids;
	uint64_t *at_ns; /* its start, then the time of each token */
	/* The first sequence of the first counted request of the first case. */
	int64_t shown[GENERATE_SHOWN];
	size_t nshown;
	double first_ns;    /* TTFT of the very first request */
	double measured_ns; /* all counted requests */
} generate_job;

/* generate_request.c */
dck_status generate_request_init(generate_job *j, dck_err *err);
void generate_request_done(generate_job *j);
/* Makes one request, and adds its times to the case if it counts. */
dck_status generate_request(generate_job *j, generate_case *c, bool counts, dck_err *err);

/* generate_record.c */
/* Needs a counted request. */
dck_status generate_record(generate_job *j, dck_err *err);

#endif
