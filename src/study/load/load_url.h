/* load_url.h - a load test of a server over HTTP: opening, one measurement, the record.
 *
 * The schedule, the limits and the search are those of every load test; load_run() of a pool with a
 * server is load_url_run(). The unit of every statistic is the request, because the chunks of one
 * depend on each other (docs/reference/generation.md). A request that failed is in the samples with
 * the time of --timeout, so that it is above every limit.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LOAD_LOAD_URL_H
#define LOAD_LOAD_URL_H

#include "measure/server/server_cache.h"
#include "measure/server/server_session.h"
#include "study/load/load_client.h"
#include "study/load/load_run.h"

struct load_url {
	server_session server;
	server_cache cache;
	bool usage_cached;  /* the usage of an answer has its cached tokens */
	bool prompts_again; /* those of the file were sent more than once */
	double *due_ns;	    /* owned: the schedule */
	uint64_t origin_ns;
	double timeout_ns;
	load_pool *pool; /* of the run, for the progress display */
	const load_run_config *run;
};

/* Opens the server: reads headers, finds the address, sends the first requests, and calibrates the
 * client. *ret is owned by the caller, load_url_close(), also on failure. */
dck_status load_url_open(load_pool *p, const dck_load_config *c, const dck_observer *watch,
			 dck_err *err);
/* Looks for a cache of prefixes, when all requests are made. */
void load_url_finish(load_pool *p);
void load_url_close(load_pool *p); /* a pool without a server is allowed */

/* load_url_run.c */
/* Returns a quantile of a part that is from the schedule on, without the client's lateness, and by
 * how much that moved it; of other parts, and where they are unknown, NaN and 0. */
double load_url_on_time(const load_pool *p, const load_samples *samples, load_part part, double q,
			double *ret_shift);
dck_status load_url_run(load_pool *p, const load_run_config *ask, load_result *ret, dck_err *err);

#endif
