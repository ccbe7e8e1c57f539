/* load_run.h - a subject under load: when requests arrive, who serves them, how long they take and
 * what that says of a limit.
 *
 * There is no queue and no thread that fills one. When requests arrive is known beforehand, so a
 * stream that becomes free takes the next unclaimed one: at once when it is due, else
 * it waits until then. That serves in the order of arrival as a queue would, needs no memory, and
 * leaves nothing that could send late without being seen.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LOAD_LOAD_RUN_H
#define LOAD_LOAD_RUN_H

#include "deepclock/load.h"
#include "measure/latency_limit.h"
#include "base/mem.h"
#include "measure/samples.h"
#include "measure/subject/target.h"
#include "os/os.h"
#include "record/others.h"
#include "stat/stat.h"
#include <pthread.h>
#include <stdatomic.h>

#define LOAD_LIMITS  8
#define LOAD_STREAMS 256

/* In step with dck_load_scenarios. */
typedef enum load_scenario {
	LOAD_AUTO,
	LOAD_SINGLE,
	LOAD_MULTI,
	LOAD_OFFLINE,
	LOAD_SERVER
} load_scenario;

/* --- load_arrivals.c: when requests arrive, nanoseconds from the start. */

typedef struct load_trace {
	double *at_ns; /* from the first one, never falling; owned: mem_free() */
	size_t n;
	double rate_hz; /* mean, between the first and the last */
} load_trace;

/* Times one a line, or in the first column of a CSV file: a number of seconds or a time with its
 * unit. A first line without a number is a heading; '#' begins a comment. E_FORMAT, E_ABSENT, E_IO,
 * E_LIMIT name file and line. */
dck_status load_trace_read(const char *path, load_trace *ret, dck_err *err);
void load_trace_done(load_trace *t); /* {0} is allowed */
/* How long all of it takes at that rate, the last arrival included. */
uint64_t load_trace_time(const load_trace *t, double rate_hz);

typedef struct load_arrivals {
	bool constant;
	double gap_ns;		 /* mean */
	const load_trace *trace; /* NULL: none; scaled to the mean gap */
	double scale;
	uint64_t seed, n; /* that have been told */
	double at_ns;
} load_arrivals;

/* rate_hz above 0. */
void load_arrivals_init(load_arrivals *a, double rate_hz, bool constant, const load_trace *trace,
			uint64_t seed);
/* The next arrival; false: the trace has ended. */
bool load_arrivals_next(load_arrivals *a, double *ret_ns);

/* --- what is known of each request. */

/* A set of samples for each time of a request; all sets are in the order of arrival. */
typedef enum load_part {
	LOAD_LATENCY, /* from the arrival until the results are ready: wait and service */
	LOAD_WAIT,    /* from the arrival until the run begins; of SERVER alone */
	LOAD_SERVICE, /* the run */
	LOAD_LAG,     /* the wait of the requests for which a stream stood ready */
	LOAD_PARTS
} load_part;

typedef struct load_samples {
	measure_samples of[LOAD_PARTS];
} load_samples;

/* Room for `cap` samples of each time; `hot`: streams push to it. On failure it is the caller's to
 * release what there is. */
dck_status load_samples_init(load_samples *s, size_t cap, bool hot, dck_err *err);
void load_samples_done(load_samples *s); /* {0} is allowed */

/* --- load_point.c: what a measurement says of a limit. */

/* What a limit was seen to do: sums over all runs at one rate. */
typedef struct load_seen {
	double n_eff, over_eff;
	uint64_t n, over;
	double sum, half_squares; /* of a mean: of the latency; of half its interval, times n */
} load_seen;

typedef struct load_pool load_pool;
typedef struct load_result load_result;

/* Adds what the last measurement shows of a limit. `confidence`: of this look. */
void load_see(const load_pool *p, const load_result *r, size_t limit_index,
	      const latency_limit *limit, double confidence, load_seen *to);
/* The test. */
void load_judge(const load_seen *seen, const latency_limit *limit, double confidence,
		stat_limit *ret);
/* The limit is over in what was seen, whether or not that is shown. */
bool load_leans_over(const load_seen *seen, const stat_limit *l, const latency_limit *limit);

/* --- load_run.c: one measurement. */

/* How a stream waits; replaced in tests. */
typedef struct load_timer {
	void (*sleep_ns)(void *self, uint64_t ns);
	void *self;
	uint64_t spin_ns; /* before an arrival, where a core is free: the timer wakes late */
} load_timer;

typedef struct load_run_config {
	load_scenario scenario; /* not AUTO */
	load_arrivals arrivals; /* of SERVER */
	uint64_t time_ns;	/* arrivals, or beginnings, later than this are not made */
	uint64_t requests;	/* 0: no limit */
	uint64_t max_queue;	/* of SERVER */
	const latency_limit *limits;
	size_t nlimits;
} load_run_config;

typedef struct load_stream load_stream;

/* The streams, ready to run; lives as long as the target. */
struct load_pool {
	subject_target *target;
	const dck_clock *clock;
	uint64_t origin_ns; /* the record's beginning */
	load_timer pace;
	load_stream *streams;
	size_t n, cap;		    /* streams; samples that each keeps */
	bool serial, inline_only;   /* inline: tests, one stream in the caller's thread */
	unsigned cpus, run_threads; /* processors; threads that one run keeps busy */
	const dck_observer *watch;
	atomic_bool stop;      /* streams end after the run they are in */
	dck_progress progress; /* phase and what is known; sent while it runs */
	load_samples samples;  /* of the last measurement, of all streams */
	double *scratch;
	size_t scratch_n;
};

struct load_result {
	uint64_t served, abandoned; /* abandoned: due, and given up when it became unstable */
	uint64_t arrived;	    /* due until the end of arrivals */
	uint64_t queue_max, queue_end;
	uint64_t over[LOAD_LIMITS];
	double span_ns;		 /* from the start until the end of arrivals, or the last begin */
	double done_ns;		 /* from the start until the last was done */
	uint64_t peak_rss_bytes; /* of a command */
	os_usage before, after;	 /* around it */
	record_others others;
	bool unstable, cancelled;
	dck_status failed;
	dck_err why;
};

/* Contexts for n streams on the target's model, the first of them the target's own; each makes its
 * first runs. `cap`: samples that are kept in all. E_UNSUP: the engine makes only one. On failure
 * *p is released. */
dck_status load_pool_open(load_pool *p, subject_target *t, const dck_clock *clock, size_t n,
			  size_t cap, dck_err *err);
void load_pool_close(load_pool *p); /* {0} is allowed */

/* Fails only when threads cannot be made; how a run or the user ended it is in *ret. */
dck_status load_run(load_pool *p, const load_run_config *ask, load_result *ret, dck_err *err);

/* Of one stream in the last measurement; borrowed until the next. */
const measure_samples *load_stream_latency(const load_pool *p, size_t i);

/* Busy streams in the last measurement, as a share of all; arrivals times service over streams
 * when it is unstable. */
double load_utilisation(const load_pool *p, const load_result *r);

/* --- load_peak.c: which rate to try next. */

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
	double held;		 /* highest that was shown to hold; 0: none */
	double open_lo, open_hi; /* lowest and highest between those two; INFINITY, 0: none */
	double broken;		 /* lowest that was shown to break; INFINITY: none */
} load_peak;

void load_peak_init(load_peak *p, double start, double precision);
/* false: the bracket is as narrow as asked and its ends were seen twice, or there is nothing left
 * to try. */
bool load_peak_next(load_peak *p, double *ret_rate);
/* leans_over: more than may are over a limit, whether or not that is shown. */
void load_peak_take(load_peak *p, double rate, dck_verdict v, bool leans_over);

#endif
