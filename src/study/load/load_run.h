/* load_run.h - load generator: the arrival process, the streams that serve requests, their
 * latencies, and the test of a limit.
 *
 * The implementation needs neither a queue nor a dispatcher thread. Arrival times are known in
 * advance, so a stream that becomes free claims the next request: at once if it is due, else the
 * stream waits until then. Requests are served in the order of arrival as from a queue, without
 * memory, and without a sender whose delays would be unnoticed (coordinated omission).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LOAD_LOAD_RUN_H
#define LOAD_LOAD_RUN_H

#include "deepclock/load.h"
#include "measure/http/http_client.h"
#include "measure/latency_limit.h"
#include "measure/samples.h"
#include "measure/subject/target.h"
#include "os/os.h"
#include "record/others.h"
#include "stat/stat.h"
#include <pthread.h>
#include <stdatomic.h>

#define LOAD_LIMITS  8
#define LOAD_STREAMS 256

/* In the order of dck_load_scenarios. */
typedef enum load_scenario {
	LOAD_AUTO,
	LOAD_SINGLE,
	LOAD_MULTI,
	LOAD_OFFLINE,
	LOAD_SERVER
} load_scenario;

/* --- load_arrivals.c: arrival times, in nanoseconds from the start. */

typedef struct load_trace {
	double *at_ns; /* since the first, nondecreasing; owned: mem_free() */
	size_t n;
	double rate_hz;	  /* mean, between the first and the last */
	uint64_t heading; /* line of the heading; 0: none */
} load_trace;

/* Reads one time per line, or the first column of a CSV file: seconds, or a time with its unit. A
 * first line that does not begin with a number is a heading; '#' starts a comment. E_FORMAT,
 * E_ABSENT, E_IO, E_LIMIT: the message names file and line. */
dck_status load_trace_read(const char *path, load_trace *ret, dck_err *err);
void load_trace_done(load_trace *t); /* {0} is allowed */
/* Returns the duration of the trace at that rate in ns, the last arrival included. */
uint64_t load_trace_time(const load_trace *t, double rate_hz);

typedef struct load_arrivals {
	bool constant;
	double gap_ns;		 /* mean */
	const load_trace *trace; /* NULL: none; scaled to the mean gap */
	double scale;
	uint64_t seed, n; /* that have been returned */
	double at_ns;
} load_arrivals;

/* Initialises the arrivals; rate_hz is above 0. */
void load_arrivals_init(load_arrivals *a, double rate_hz, bool constant, const load_trace *trace,
			uint64_t seed);
/* Returns the next arrival; false: the trace has ended. */
bool load_arrivals_next(load_arrivals *a, double *ret_ns);

/* --- samples of each request. */

/* The durations of a request, each with a set of samples; all sets are in the order of arrival. */
typedef enum load_part {
	LOAD_LATENCY, /* from arrival to completion: wait plus service */
	LOAD_WAIT,    /* from arrival to the start of the run; only with SERVER */
	LOAD_SERVICE, /* the run */
	LOAD_LAG,     /* the wait of requests for which a stream was idle; of a server: by which
			 the client started late */
	LOAD_PARTS,
	/* Only of a server that generates. */
	LOAD_TTFT = LOAD_PARTS,
	LOAD_TPOT,
	/* Of a server: by which the first content, and the end, may have arrived before their
	 * times, beyond the client's floor. */
	LOAD_READ_FIRST,
	LOAD_READ_END,
	LOAD_PARTS_ALL
} load_part;

typedef struct load_samples {
	measure_samples of[LOAD_PARTS_ALL];
} load_samples;

/* Allocates `cap` samples of each of the first `parts` durations; `hot`: streams push to them. On
 * failure the caller still calls load_samples_done(). */
dck_status load_samples_init(load_samples *s, size_t parts, size_t cap, bool hot, dck_err *err);
void load_samples_done(load_samples *s); /* {0} is allowed */

/* --- load_point.c: tests a limit on the measurements. */

/* Statistics of a limit: sums over all runs at one rate. */
typedef struct limit_stats {
	double n_eff, over_eff;
	uint64_t n, over;
	double sum, half_squares; /* of a mean: latency; half-width of its interval times n */
} limit_stats;

typedef struct load_pool load_pool;
typedef struct load_result load_result;

/* Returns the duration that a limit is about. */
static inline load_part load_limit_part(const latency_limit *limit)
{
	static const load_part parts[] = {
	    [LIMIT_LATENCY] = LOAD_LATENCY, [LIMIT_TTFT] = LOAD_TTFT, [LIMIT_TPOT] = LOAD_TPOT};

	return parts[limit->quantity];
}

/* Adds the last measurement to the statistics of a limit. `confidence`: of this interim test. */
void limit_stats_add(const load_pool *p, const load_result *r, size_t limit_index,
		     const latency_limit *limit, double confidence, limit_stats *to);
/* Tests the limit on the statistics. */
void limit_test(const limit_stats *seen, const latency_limit *limit, double confidence,
		stat_limit *ret);
/* Returns whether the limit is exceeded in the sample, significant or not. */
bool limit_exceeded_in_sample(const limit_stats *seen, const stat_limit *l,
			      const latency_limit *limit);

/* --- load_run.c: one measurement. */

/* The timer of a stream; replaced in tests. */
typedef struct load_timer {
	void (*sleep_ns)(void *self, uint64_t ns);
	void *self;
	uint64_t spin_ns; /* spin before an arrival if a core is free: the timer wakes late */
} load_timer;

typedef struct load_run_config {
	load_scenario scenario; /* not AUTO */
	load_arrivals arrivals; /* of SERVER */
	uint64_t time_ns;	/* no arrivals, or starts, after this */
	uint64_t requests;	/* 0: no limit */
	uint64_t max_queue;	/* of SERVER */
	uint64_t until_ns; /* of os_now_ns(): a server's answers are waited for; 0: --timeout */
	const latency_limit *limits;
	size_t nlimits;
} load_run_config;

typedef struct load_stream load_stream;
typedef struct load_url load_url; /* load_url.h */

/* The streams, ready to run; the target must outlive them. */
struct load_pool {
	subject_target *target;
	load_url *url; /* a server instead of the target; NULL: none */
	const dck_clock *clock;
	uint64_t origin_ns; /* start of the record */
	load_timer pace;
	load_stream *streams;
	size_t n, cap;		    /* streams; samples stored by each */
	bool serial, inline_only;   /* inline: for tests, one stream in the caller's thread */
	unsigned cpus, run_threads; /* processors; busy threads of one run */
	const dck_observer *watch;
	atomic_bool stop;      /* streams end after the run they are in */
	dck_progress progress; /* phase and current values; sent during the run */
	load_samples samples;  /* of the last measurement, of all streams */
	double *scratch;
	size_t scratch_n;
};

/* The points in time of a request to a server, in their order (docs/reference/generation.md). */
typedef enum load_time {
	LOAD_STARTED, /* the client turned to it; a new connection follows, if none is free */
	LOAD_SENT,
	LOAD_FIRST_BYTE,
	LOAD_FIRST_EVENT,
	LOAD_FIRST_CONTENT,
	LOAD_END,
	LOAD_TIMES
} load_time;

/* What became of the requests to a server. */
enum { LOAD_STATUSES = 6 };
typedef struct load_answers {
	uint64_t outcome[HTTP_OUTCOMES];
	struct {
		unsigned status;
		uint64_t n;
	} status[LOAD_STATUSES];       /* of HTTP_STATUS, the first ones */
	uint64_t failed, within;       /* within: they meet all limits */
	uint64_t unknown[LOAD_LIMITS]; /* answered, but the limited time is not known */
	/* Of the answered; counted: the server reported numbers of tokens. */
	uint64_t chunks, counted;
	uint64_t tokens, prompt_tokens, cached_tokens, cached; /* cached: requests with any */
	double time_ns[LOAD_TIMES]; /* medians of answered requests, from the schedule; 0: none */
	stat_estimate icl[3];	    /* p50, p90, p99 */
	double client_busy;	    /* share of the time */
	double overload_rate;	    /* answers per second of an overloaded server; 0: it is not */
	uint64_t stamped;	    /* answers whose arrival the kernel stamped */
	size_t in_flight_max;
	uint64_t resent;     /* on another connection, since the server had closed the one in use */
	size_t gaps_dropped; /* between chunks; not in icl */
	bool no_end;	     /* no answer had a finish_reason or [DONE] */
	bool full;	     /* a closed loop ended at HTTP_ANSWERS_MAX */
	bool crowded;  /* ended at HTTP_IN_FLIGHT_MAX, which a server of long answers fills, too */
	bool given_up; /* requests in flight, when the time of the search was over */
	char why[200]; /* of the first that failed */
	char client_bound[160]; /* why the client limits the result; "": it does not */
} load_answers;

struct load_result {
	load_answers answers;
	uint64_t served, abandoned; /* abandoned: due, and dropped when the load became unstable */
	uint64_t arrived;	    /* due until the end of arrivals */
	uint64_t queue_max, queue_end;
	uint64_t over[LOAD_LIMITS];
	double span_ns;		 /* the time of the arrivals, or until the last start */
	double done_ns;		 /* from the start to the last completion */
	uint64_t peak_rss_bytes; /* of a command */
	os_usage before, after;	 /* before and after */
	record_others others;
	bool unstable, cancelled;
	dck_status failed;
	dck_err why;
};

/* Returns the time by which the rates of served requests are divided: that of the arrivals, or
 * until the last was done if that is later. */
static inline double load_result_time(const load_result *r)
{
	return r->done_ns > r->span_ns ? r->done_ns : r->span_ns;
}

/* Returns whether no answer shows the time that the limit is about. */
static inline bool load_limit_unknown(const load_result *r, size_t limit_index)
{
	const uint64_t n = r->answers.unknown[limit_index];

	return n > 0 && n + r->answers.failed == r->served;
}

/* Opens contexts for n streams on the target's model, the first of them the target's own; each
 * makes its first runs. `cap`: samples stored in total. E_UNSUP: the engine supports only one. On
 * failure *p is released. */
dck_status load_pool_open(load_pool *p, subject_target *t, const dck_clock *clock, size_t n,
			  size_t cap, dck_err *err);
void load_pool_close(load_pool *p); /* {0} is allowed */

/* Runs the streams. Fails only if threads cannot be created; *ret has a failed run or a
 * cancellation. */
dck_status load_run(load_pool *p, const load_run_config *ask, load_result *ret, dck_err *err);

/* Returns the time of the arrivals of a result, the last of which was at last_ns:
 * load_result.span_ns. A trace and a constant rate begin with an arrival, so that n of them have n
 * - 1 gaps; where these take no time, the requested rate counts. */
double load_run_span(const load_run_config *ask, const load_result *r, double last_ns);

/* Returns the latencies of one stream in the last measurement; borrowed until the next. */
const measure_samples *load_stream_latency(const load_pool *p, size_t i);

/* Returns the utilisation in the last measurement: the mean share of busy streams; if unstable,
 * arrival rate times service time over streams. */
double load_utilisation(const load_pool *p, const load_result *r);

/* --- load_peak.c: a bracketing search for the peak rate. */

#define LOAD_PEAK_POINTS 40

typedef struct load_peak {
	double start, least, most; /* rates */
	double precision;
	struct {
		double rate;
		dck_verdict verdict;
		bool again; /* it was measured twice */
	} tried[LOAD_PEAK_POINTS];
	unsigned points, taken;	 /* rates; measurements */
	double held;		 /* highest that met the limits; 0: none */
	double open_lo, open_hi; /* lowest and highest between those two; INFINITY, 0: none */
	double broken;		 /* lowest that violated a limit; INFINITY: none */
} load_peak;

void load_peak_init(load_peak *p, double start, double precision);
/* Returns the next rate. false: the bracket is as narrow as requested and its ends were measured
 * twice, or no rate is left to try. */
bool load_peak_next(load_peak *p, double *ret_rate);
/* Adds a measurement. leans_over: a limit is exceeded in the sample, significant or not. */
void load_peak_take(load_peak *p, double rate, dck_verdict v, bool leans_over);

#endif
