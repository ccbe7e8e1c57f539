/* client.c - how often is the client of a load test called the bottleneck, and how far are the
 * latencies off in the runs in which it is not? A client of one thread handles each event in some
 * time, and is stopped now and then, as `deepclock load --url` would be on a busy machine.
 *
 *     accuracy_client           short, with bounds: the test
 *     accuracy_client --full    more runs, as in docs/reference/validation.md
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim.h"
#include "stat/stat.h"
#include "study/load/load_client.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUESTS  1000
#define CHUNKS	  8
#define RATE	  200.0 /* requests per second */
#define TTFT_MS	  20.0	/* median of a lognormal distribution */
#define SIGMA	  0.3
#define GAP_MS	  2.0
#define QUANTILES 3
#define EVENTS	  (REQUESTS * (CHUNKS + 1))

/* Bounds of the errors in what is reported; rare long stops of the client reach them. The mean of
 * fewer runs is that of the worst. */
#define MEAN_MOST  0.05
#define WORST_MOST 0.15
#define RUNS_LEAST 10

static const double quantiles[QUANTILES] = {0.5, 0.9, 0.99};

typedef struct kind {
	const char *name;
	double cost_ms;		 /* of handling one event */
	double every_ms, for_ms; /* stops of the client: mean time between, duration; 0: none */
} kind;

static const kind kinds[] = {
    {"0.02 ms an event", 0.02, 0, 0},
    {"0.2 ms an event", 0.2, 0, 0},
    {"0.35 ms an event", 0.35, 0, 0},
    {"0.5 ms an event", 0.5, 0, 0},
    {"stops of 1 ms, every 50", 0.02, 50, 1},
    {"stops of 5 ms, every 100", 0.02, 100, 5},
    {"stops of 5 ms, every 20", 0.02, 20, 5},
    {"stops of 30 ms, every 1000", 0.02, 1000, 30},
    {"stops of 100 ms, every 2000", 0.02, 2000, 100},
    {"stops of 100 ms, every 5000", 0.02, 5000, 100},
    {"stops of 300 ms, every 5000", 0.02, 5000, 300},
};

typedef struct event {
	double at;
	unsigned request, number; /* number 0: the start; k: chunk k arrives */
} event;

typedef struct run {
	double truth[REQUESTS], seen[REQUESTS], late[REQUESTS], read[REQUESTS];
	double busy;
} run;

/* --- the client: a heap of events by time, one handled after the other */

typedef struct heap {
	event of[EVENTS + 1];
	size_t n;
} heap;

static void heap_push(heap *h, event e)
{
	size_t i = ++h->n;

	for (; i > 1 && h->of[i / 2].at > e.at; i /= 2)
		h->of[i] = h->of[i / 2];
	h->of[i] = e;
}

static event heap_pop(heap *h)
{
	const event first = h->of[1], last = h->of[h->n--];
	size_t i = 1;

	while (2 * i <= h->n) {
		const size_t k = 2 * i + (2 * i < h->n && h->of[2 * i + 1].at < h->of[2 * i].at);

		if (h->of[k].at >= last.at)
			break;
		h->of[i] = h->of[k];
		i = k;
	}
	h->of[i] = last;
	return first;
}

static double exponential(sim_random *r, double mean)
{
	return -mean * log(sim_uniform(r));
}

/* A first chunk is read some time after it arrived, with those that came in between. Its time is
 * the last one's arrival, and it may be late by the time since. */
static void chunk_read(run *to, const event *e, double due, double now)
{
	const double after = now - e->at, more = fmin(CHUNKS - 1, floor(after / GAP_MS));

	to->seen[e->request] = e->at + more * GAP_MS - due;
	to->read[e->request] = more > 0 ? after - more * GAP_MS : 0;
}

static void run_make(const kind *k, sim_random *r, run *to)
{
	static double due[REQUESTS], sent[REQUESTS];
	static heap h;
	double at = 0, free_at = 0, work = 0;
	double stop_at = k->every_ms > 0 ? exponential(r, k->every_ms) : INFINITY;

	h.n = 0;
	for (unsigned i = 0; i < REQUESTS; i++) {
		at += exponential(r, 1000 / RATE);
		due[i] = at;
		to->truth[i] = TTFT_MS * exp(SIGMA * sim_normal(r));
		heap_push(&h, (event){at, i, 0});
	}
	while (h.n > 0) {
		const event e = heap_pop(&h);
		double now = fmax(e.at, free_at);

		/* Stops that began before it is handled. */
		while (stop_at < now + k->cost_ms) {
			now = fmax(now, stop_at + k->for_ms);
			stop_at += k->for_ms + exponential(r, k->every_ms);
		}
		free_at = now + k->cost_ms;
		work += k->cost_ms;
		if (e.number == 0) {
			sent[e.request] = now;
			to->late[e.request] = now - due[e.request];
			for (unsigned c = 1; c <= CHUNKS; c++)
				heap_push(&h, (event){sent[e.request] + to->truth[e.request] +
							  (c - 1) * GAP_MS,
						      e.request, c});
		} else if (e.number == 1) {
			chunk_read(to, &e, due[e.request], now);
		}
	}
	to->busy = work / free_at;
}

/* --- the rule */

typedef struct tally {
	size_t runs, called, withheld[QUANTILES], reported[QUANTILES];
	/* Of those that are reported, in the order of runs: relative errors. */
	double sum[QUANTILES], worst[QUANTILES], late;
} tally;

static double shift_of(const run *r, double p)
{
	static double scratch[REQUESTS];
	double shift;

	load_client_on_time(p, r->seen, r->late, r->read, REQUESTS, scratch, &shift);
	return shift;
}

static double quantile_of(const double *x, double p, double *scratch)
{
	memcpy(scratch, x, REQUESTS * sizeof *x);
	stat_sort(scratch, REQUESTS);
	return stat_quantile_sorted(scratch, REQUESTS, p);
}

static void run_judge(const run *r, tally *t)
{
	static double scratch[REQUESTS];
	const double median = quantile_of(r->seen, 0.5, scratch);
	double late = 0;
	bool called;

	for (size_t i = 0; i < REQUESTS; i++)
		late += (r->late[i] + r->read[i]) / REQUESTS;
	called = load_client_judge(r->busy, late, shift_of(r, 0.5), 0, median) != CLIENT_FREE;
	t->runs++;
	t->late += late / median;
	t->called += called;
	for (size_t q = 0; q < QUANTILES && !called; q++) {
		const double off = quantile_of(r->seen, quantiles[q], scratch) /
				       quantile_of(r->truth, quantiles[q], scratch) -
				   1;

		if (shift_of(r, quantiles[q]) > CLIENT_SHIFT_MOST) {
			t->withheld[q]++;
			continue;
		}
		t->reported[q]++;
		t->sum[q] += off;
		t->worst[q] = fmax(t->worst[q], off);
	}
}

static bool row_print(const kind *k, const tally *t)
{
	bool bad = false;

	printf("| %s | %.1f %% | %.0f %% |", k->name, 100 * t->late / (double)t->runs,
	       100 * (double)t->called / (double)t->runs);
	for (size_t q = 0; q < QUANTILES; q++) {
		const size_t n = t->reported[q];
		const double mean = n > 0 ? t->sum[q] / (double)n : 0;

		if (q > 0)
			printf(" %.0f %% |", 100 * (double)t->withheld[q] / (double)t->runs);
		if (n > 0)
			printf(" %.1f %%, %.1f %% |", 100 * mean, 100 * t->worst[q]);
		else
			printf(" - |");
		bad |= (n >= RUNS_LEAST && mean > MEAN_MOST) || t->worst[q] > WORST_MOST;
	}
	printf("\n");
	/* A client without load is never called. */
	return bad || (k == kinds && t->called + t->withheld[1] + t->withheld[2] > 0);
}

int main(int argc, char **argv)
{
	const bool full = argc > 1 && strcmp(argv[1], "--full") == 0;
	const size_t times = full ? 500 : 40;
	static run r;
	bool bad = false;

	printf("| client | late | called | p50 off: mean, worst | p90 withheld | p90 off | "
	       "p99 withheld | p99 off |\n|---|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		tally t = {0};
		sim_random random;

		sim_seed(&random, 1 + i);
		for (size_t k = 0; k < times; k++) {
			run_make(&kinds[i], &random, &r);
			run_judge(&r, &t);
		}
		bad |= row_print(&kinds[i], &t);
	}
	return bad;
}
