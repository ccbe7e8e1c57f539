/* test_search.c - the next batch size to try and the conclusions, with simulated measurements:
 * exact rates, noise, drift, exhausted memory, limits on latency.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/throughput/search.h"
#include "fault_alloc.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define TRIALS_MAX 2000

/* A simulated machine. */
typedef struct machine {
	double (*rate)(uint64_t batch, unsigned setting);
	uint64_t memory_at;	 /* out of memory from this batch on; 0: never */
	uint64_t error_at;	 /* this batch fails */
	uint64_t fails_in_round; /* this batch fails from round 1 on */
	double drift;		 /* each trial is slower by this fraction */
	double in_rounds;	 /* factor of the rates in rounds; 0: 1 */
	unsigned slow_from;	 /* from this round on; 0: the first */
	double noise;		 /* standard deviation of the rates' logarithms */
	double held;		 /* the limited statistic relative to the latency */
	uint64_t random;
} machine;

typedef struct trace {
	uint64_t batch[TRIALS_MAX];
	unsigned setting[TRIALS_MAX], round[TRIALS_MAX];
	size_t n;
} trace;

/* Saturates: half of its peak of 1000 at batch 8. */
static double rate_roof(uint64_t batch, unsigned setting)
{
	(void)setting;
	return 1000.0 * (double)batch / ((double)batch + 8);
}

/* Maximum at 24. */
static double rate_peak(uint64_t batch, unsigned setting)
{
	const double x = log((double)batch / 24);

	(void)setting;
	return 1000 * exp(-0.2 * x * x);
}

static double rate_flat(uint64_t batch, unsigned setting)
{
	(void)batch;
	(void)setting;
	return 100;
}

static double rate_one_worse(uint64_t batch, unsigned setting)
{
	(void)setting;
	return batch == 1 ? 80 : 100;
}

static double rate_linear(uint64_t batch, unsigned setting)
{
	(void)setting;
	return 10 * (double)batch;
}

/* The second setting is 1.5 times as fast. */
static double rate_settings(uint64_t batch, unsigned setting)
{
	return rate_peak(batch, 0) * (setting == 1 ? 1.5 : 1);
}

static double uniform(machine *m)
{
	m->random = m->random * 6364136223846793005u + 1442695040888963407u;
	return ((double)(m->random >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(machine *m)
{
	const double u = uniform(m), v = uniform(m);

	return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);
}

static search_outcome measure(machine *m, const search_ask *ask, size_t nth)
{
	search_outcome o = {.latency = {NAN, NAN, NAN}, .held = {NAN, NAN, NAN}};

	if (m->memory_at && ask->batch >= m->memory_at) {
		o.end = SEARCH_MEMORY;
		strcpy(o.why, "no memory");
		return o;
	}
	if (ask->batch == m->error_at || (ask->round > 0 && ask->batch == m->fails_in_round)) {
		o.end = SEARCH_ERROR;
		strcpy(o.why, "it broke");
		return o;
	}
	const double in_round =
	    ask->round > 0 && ask->round >= m->slow_from && m->in_rounds > 0 ? m->in_rounds : 1;
	const double r = m->rate(ask->batch, ask->setting) * pow(1 - m->drift, (double)nth) *
			 exp(m->noise * normal(m)) * in_round;
	const double ns = (double)ask->batch / r * 1e9;

	o.rate = (search_number){r, r * 0.99, r * 1.01};
	o.latency = (search_number){ns, ns * 0.99, ns * 1.01};
	o.held = (search_number){ns * m->held, ns * m->held * 0.99, ns * m->held * 1.01};
	o.peak_rss_bytes = 1000 * ask->batch;
	return o;
}

static search_config config(uint64_t max_batch)
{
	return (search_config){.min_batch = 1,
			       .max_batch = max_batch,
			       .settings = 1,
			       .level = 0.95,
			       .precision = 0.01,
			       .rounds_min = 3,
			       .rounds_max = 9,
			       .seed = 1};
}

/* Runs to the end, or at most this number of trials. */
static search *run(const search_config *c, machine *m, trace *t, size_t most)
{
	search *s = search_new(c);
	search_ask ask;
	bool more;

	assert_non_null(s);
	t->n = 0;
	while (t->n < most) {
		assert_int_equal(search_next(s, &more, &ask, NULL), DCK_OK);
		if (!more)
			break;
		assert_true(t->n < TRIALS_MAX);
		t->batch[t->n] = ask.batch;
		t->setting[t->n] = ask.setting;
		t->round[t->n] = ask.round;
		const search_outcome o = measure(m, &ask, t->n);
		assert_int_equal(search_tell(s, &o, NULL), DCK_OK);
		t->n++;
	}
	return s;
}

static void batches_are(const trace *t, size_t from, const uint64_t *want, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (t->batch[from + i] != want[i])
			fail_msg("trial %zu is of batch %llu, not %llu", from + i,
				 (unsigned long long)t->batch[from + i],
				 (unsigned long long)want[i]);
}
#define BATCHES(t, from, ...)                                     \
	batches_are((t), (from), (const uint64_t[]){__VA_ARGS__}, \
		    sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static uint64_t batch_of(const search *s, size_t point)
{
	return search_get(s, point)->batch;
}

/* --- growth and refinement */

static void test_peak(void **state)
{
	machine m = {.rate = rate_peak};
	const search_config c = config(4096);
	search_result r;
	trace t;
	search *s = run(&c, &m, &t, TRIALS_MAX);

	(void)state;
	/* Their maximum is at 32 by a small margin (16: 967.7, 32: 983.6); three that are not 2 %
	 * better end the growth. */
	BATCHES(&t, 0, 1, 2, 4, 8, 16, 32, 64, 128);
	/* Between 16, 32 and 64 in any order, then around 24. */
	assert_int_equal(t.batch[8] + t.batch[9], 24 + 48);
	assert_int_equal(t.batch[10] + t.batch[11], 20 + 28);
	assert_int_equal(t.round[11], 0);
	assert_int_equal(t.round[12], 1);
	search_judge(s, &r);
	assert_true(r.found);
	assert_int_equal(batch_of(s, r.best), 24);
	/* rate_peak(16) / 1000 = 0.9676, rate_peak(8) = 0.7856 */
	assert_int_equal(batch_of(s, r.knee), 16);
	assert_int_equal(r.limit, SEARCH_BY_SATURATION);
	assert_int_equal(r.nunresolved, 0);
	assert_true(r.half < 1e-9);
	assert_int_equal(r.rounds, 3);
	search_free(s);
}

static void test_roof(void **state)
{
	machine m = {.rate = rate_roof};
	const search_config c = config(1024);
	search_result r;
	trace t;
	search *s = run(&c, &m, &t, TRIALS_MAX);

	(void)state;
	search_judge(s, &r);
	/* Each doubling gains less; from 512 on less than 2 %. */
	assert_true(r.found);
	assert_int_equal(r.limit, SEARCH_BY_SATURATION);
	assert_true(batch_of(s, r.best) >= 512);
	/* 0.95 of 992.2 (at 1024) is 942.6: 128 has 941.2, 256 has 969.7. */
	assert_int_equal(batch_of(s, r.knee), 256);
	search_free(s);
}

static void test_max_batch(void **state)
{
	machine m = {.rate = rate_linear};
	search_config c = config(100);
	search_result r;
	trace t;
	search *s = run(&c, &m, &t, TRIALS_MAX);

	(void)state;
	BATCHES(&t, 0, 1, 2, 4, 8, 16, 32, 64, 100);
	search_judge(s, &r);
	assert_int_equal(batch_of(s, r.best), 100);
	assert_int_equal(r.limit, SEARCH_BY_MAX);
	search_free(s);

	c = config(1);
	s = run(&c, &m, &t, TRIALS_MAX);
	search_judge(s, &r);
	assert_int_equal(batch_of(s, r.best), 1);
	assert_int_equal(r.limit, SEARCH_BY_MAX);
	assert_int_equal(t.n, 4); /* the first trial, and three rounds for its interval */
	assert_int_equal(r.ncompared, 0);
	search_free(s);

	c = config(48);
	c.min_batch = 10;
	s = run(&c, &m, &t, TRIALS_MAX);
	BATCHES(&t, 0, 10, 20, 40, 48);
	search_free(s);
}

static void test_too_long(void **state)
{
	machine m = {.rate = rate_linear}; /* each run takes 0.1 s */
	search_config c = config(100);
	search_result r;
	trace t;
	search *s;

	(void)state;
	c.longest_ns = 0.09e9;
	s = run(&c, &m, &t, TRIALS_MAX);
	search_judge(s, &r);
	assert_int_equal(batch_of(s, r.best), 1);
	assert_int_equal(r.limit, SEARCH_BY_TIME);
	search_free(s);
}

static void test_list(void **state)
{
	static const uint64_t list[] = {3, 5, 100, 200};
	machine m = {.rate = rate_linear, .memory_at = 100};
	search_config c = config(1);
	search_result r;
	trace t;
	search *s;

	(void)state;
	c.batches = list;
	c.nbatches = 4;
	s = run(&c, &m, &t, TRIALS_MAX);
	/* 200 would need more memory than 100, which ran out of memory. */
	BATCHES(&t, 0, 3, 5, 100);
	assert_int_equal(t.n, 3 + 3 * 2);
	search_judge(s, &r);
	assert_int_equal(batch_of(s, r.best), 5);
	assert_int_equal(r.limit, SEARCH_BY_MEMORY);
	search_free(s);
	/* Another error may affect one size only. */
	m = (machine){.rate = rate_linear, .error_at = 5};
	s = run(&c, &m, &t, TRIALS_MAX);
	BATCHES(&t, 0, 3, 5, 100, 200);
	search_judge(s, &r);
	assert_int_equal(batch_of(s, r.best), 200);
	assert_int_equal(r.limit, SEARCH_BY_MAX);
	search_free(s);
	m = (machine){.rate = rate_linear}; /* time ends before the list does */
	s = run(&c, &m, &t, 2);
	search_judge(s, &r);
	assert_int_equal(batch_of(s, r.best), 5);
	assert_int_equal(r.limit, SEARCH_BY_TIME);
	search_free(s);
}

/* --- stop reasons */

static void test_memory(void **state)
{
	machine m = {.rate = rate_linear, .memory_at = 45};
	const search_config c = config(1024);
	search_result r;
	trace t;
	search *s = run(&c, &m, &t, TRIALS_MAX);

	(void)state;
	BATCHES(&t, 0, 1, 2, 4, 8, 16, 32, 64);
	search_judge(s, &r);
	/* 48 does not fit, 40 and 44 do; 46 is less than an eighth more. */
	assert_int_equal(batch_of(s, r.best), 44);
	assert_int_equal(r.limit, SEARCH_BY_MEMORY);
	for (size_t i = 0; i < search_npoints(s); i++)
		assert_int_equal(search_get(s, i)->end,
				 batch_of(s, i) < 45 ? SEARCH_OK : SEARCH_MEMORY);
	search_free(s);
}

static void test_no_memory_at_all(void **state)
{
	machine m = {.rate = rate_linear, .memory_at = 1};
	const search_config c = config(1024);
	search_result r;
	trace t;
	search *s = run(&c, &m, &t, TRIALS_MAX);

	(void)state;
	BATCHES(&t, 0, 1);
	assert_int_equal(t.n, 1);
	search_judge(s, &r);
	assert_false(r.found);
	search_free(s);
}

static void test_error(void **state)
{
	machine m = {.rate = rate_linear, .error_at = 16};
	const search_config c = config(1024);
	search_result r;
	trace t;
	search *s = run(&c, &m, &t, TRIALS_MAX);

	(void)state;
	BATCHES(&t, 0, 1, 2, 4, 8, 16);
	search_judge(s, &r);
	assert_int_equal(batch_of(s, r.best), 15);
	assert_int_equal(r.limit, SEARCH_BY_ERROR);
	search_free(s);
}

/* A size that fails later is not the answer, however fast it was. */
static void test_fails_in_round(void **state)
{
	machine m = {.rate = rate_peak, .fails_in_round = 24};
	const search_config c = config(4096);
	search_result r;
	trace t;
	search *s = run(&c, &m, &t, TRIALS_MAX);

	(void)state;
	search_judge(s, &r);
	assert_true(r.found);
	assert_int_not_equal(batch_of(s, r.best), 24);
	assert_true(batch_of(s, r.best) == 20 || batch_of(s, r.best) == 28);
	for (size_t i = 0, seen = 0; i < t.n; i++)
		if (t.batch[i] == 24)
			assert_true(++seen <= 2);
	search_free(s);
}

/* --- rounds */

static void test_rounds_are_blocks(void **state)
{
	machine m = {.rate = rate_flat, .noise = 0.02, .random = 5};
	search_config c = config(8);
	unsigned orders = 0;
	trace t;
	search *s;

	(void)state;
	c.precision = 1e-6;
	s = run(&c, &m, &t, TRIALS_MAX);
	for (unsigned round = 1; round <= 3; round++) {
		uint64_t seen[16], n = 0;

		for (size_t i = 0; i < t.n; i++) {
			if (t.round[i] != round)
				continue;
			for (size_t k = 0; k < n; k++)
				assert_true(seen[k] != t.batch[i]);
			seen[n++] = t.batch[i];
		}
		assert_true(n >= 3);
		for (size_t k = 1; k < n; k++)
			orders += seen[k] < seen[k - 1];
	}
	/* The order is not always ascending. */
	assert_true(orders > 0);
	/* Indistinguishable sizes: all permitted rounds are run. */
	assert_int_equal(t.round[t.n - 1], 9);
	search_free(s);
}

/* The machine slows by 1 % with every trial: measured in sequence the smaller size would win. */
static void test_drift(void **state)
{
	size_t wrong = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 60; seed++) {
		machine m = {.rate = rate_peak, .drift = 0.01};
		search_config c = config(64);
		search_result r;
		trace t;
		search *s;

		c.seed = seed;
		c.rounds_min = 8;
		s = run(&c, &m, &t, TRIALS_MAX);
		search_judge(s, &r);
		/* A size within 1 % of the best may win; one that is 3 % worse (16) may not, or not
		 * as certain. */
		bool among = batch_of(s, r.best) >= 20 && batch_of(s, r.best) <= 28;
		for (size_t i = 0; i < r.nunresolved; i++)
			among |= batch_of(s, r.unresolved[i]) >= 20 &&
				 batch_of(s, r.unresolved[i]) <= 28;
		wrong += !among;
		search_free(s);
	}
	assert_true(wrong <= 3);
}

/* Small sizes are far below the best and get no rounds; then the machine slows so much that their
 * single trials exceed the best. They must be compared. */
static void test_single_trial_above(void **state)
{
	machine m = {.rate = rate_peak, .noise = 0.01, .in_rounds = 0.1};
	const search_config c = config(64);
	search_result r;
	trace t;
	search *s = run(&c, &m, &t, TRIALS_MAX);

	(void)state;
	search_judge(s, &r);
	assert_true(r.found);
	for (size_t i = 0; i < search_npoints(s); i++)
		assert_true(search_rate(s, i).value <= search_rate(s, r.best).value * 1.02);
	search_free(s);
}

/* A dropped size was measured on the faster machine: its trials alone would exceed the best's. */
static void test_let_go(void **state)
{
	static const uint64_t list[] = {1, 2, 3, 4};
	machine m = {
	    .rate = rate_one_worse, .noise = 0.005, .random = 1, .in_rounds = 0.5, .slow_from = 4};
	search_config c = config(1);
	search_result r;
	trace t;

	(void)state;
	c.batches = list;
	c.nbatches = 4;
	c.precision = 1e-6;
	search *s = run(&c, &m, &t, TRIALS_MAX);
	search_judge(s, &r);
	assert_int_equal(search_in_rounds(s, 0), 3);
	assert_true(search_in_rounds(s, 3) > 3);
	const search_number rate = search_rate(s, 0), best = search_rate(s, r.best);
	const double took = search_latency(s, 0).value / search_latency(s, r.best).value;

	assert_true(fabs(rate.value / best.value - 0.8) < 0.02);
	assert_true(fabs(took * (double)batch_of(s, r.best) * 0.8 - 1) < 0.02);
	assert_true(rate.lo < rate.value && rate.value < rate.hi);
	search_free(s);
}

/* It may end at any trial, by --max-time or Ctrl-C: there is always an answer, and never a
 * comparison that was not made. */
static void test_ends_anywhere(void **state)
{
	(void)state;
	for (size_t n = 1; n < 60; n++) {
		machine m = {.rate = rate_peak, .drift = 0.02, .noise = 0.01, .random = n};
		const search_config c = config(64);
		search_result r;
		trace t;
		search *s = run(&c, &m, &t, n);

		search_judge(s, &r);
		assert_true(r.found);
		assert_true(r.rounds != 1);
		assert_true(r.rounds > 0 || (r.ncompared == 0 && r.nunresolved == 0));
		assert_true(r.nunresolved <= r.ncompared);
		assert_true(batch_of(s, r.knee) <= batch_of(s, r.best));
		/* After a round the drift does not decide. */
		if (search_in_rounds(s, r.best) > 1)
			assert_true(rate_peak(batch_of(s, r.best), 0) > 850);
		search_free(s);
	}
}

static void test_unresolved(void **state)
{
	static const uint64_t list[] = {16, 32, 48};
	size_t claims = 0;

	(void)state;
	/* No size differs: a difference may be claimed in one case of twenty, whatever the number
	 * of looks. */
	for (uint64_t seed = 0; seed < 400; seed++) {
		machine m = {.rate = rate_flat, .noise = 0.02, .random = 977 * seed + 3};
		search_config c = config(64);
		search_result r;
		trace t;
		search *s;

		c.seed = seed;
		c.batches = list;
		c.nbatches = 3;
		s = run(&c, &m, &t, TRIALS_MAX);
		search_judge(s, &r);
		assert_int_equal(r.ncompared, 2);
		claims += r.nunresolved < 2;
		search_free(s);
	}
	if (claims > 30)
		fail_msg("%zu of 400 searches saw a difference where there is none", claims);
}

/* 5 % are detected through noise of 1 %. */
static void test_resolved(void **state)
{
	static const uint64_t list[] = {12, 24};
	size_t seen = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		machine m = {.rate = rate_peak, .noise = 0.01, .random = 31 * seed + 7};
		search_config c = config(64);
		search_result r;
		trace t;
		search *s;

		c.seed = seed;
		c.batches = list;
		c.nbatches = 2;
		s = run(&c, &m, &t, TRIALS_MAX);
		search_judge(s, &r);
		seen += batch_of(s, r.best) == 24 && r.nunresolved == 0;
		search_free(s);
	}
	assert_true(seen >= 190);
}

/* A busy machine: single trials are off by 15 %. The true best is found or reported as possible,
 * and a size of half the rate is never the knee. */
static void test_noisy(void **state)
{
	size_t missed = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 100; seed++) {
		machine m = {.rate = rate_peak, .noise = 0.15, .random = 7919 * seed + 1};
		search_config c = config(256);
		search_result r;
		trace t;
		search *s;

		c.seed = seed;
		s = run(&c, &m, &t, TRIALS_MAX);
		search_judge(s, &r);
		bool good = rate_peak(batch_of(s, r.best), 0) > 970;
		for (size_t i = 0; i < r.nunresolved; i++)
			good |= rate_peak(batch_of(s, r.unresolved[i]), 0) > 970;
		missed += !good;
		assert_true(rate_peak(batch_of(s, r.knee), 0) > 600);
		search_free(s);
	}
	if (missed > 5)
		fail_msg("%zu of 100", missed);
}

/* --- a limit on latency */

static void test_slo(void **state)
{
	/* 100 per second: batch n takes 10 n ms, and its p99 is twice that. */
	machine m = {.rate = rate_linear, .held = 2};
	search_config c = config(1024);
	search_result r;
	trace t;
	search *s;

	(void)state;
	m.rate = rate_flat;
	c.limit = (latency_limit){.kind = LIMIT_MEAN, .ns = 410e6}; /* 20.5 */
	s = run(&c, &m, &t, TRIALS_MAX);
	search_judge(s, &r);
	/* All have the same rate; those above 20 exceed the limit. */
	assert_true(r.found);
	assert_int_equal(r.verdict, DCK_VERDICT_MET);
	assert_true(batch_of(s, r.best) <= 20);
	assert_int_equal(r.limit, SEARCH_BY_SATURATION);
	search_free(s);

	/* Larger is better, up to the limit: each run takes 0.1 s. */
	m = (machine){.rate = rate_roof, .held = 1};
	c.limit.ns = 32.5e6; /* (n + 8) ms: 24 */
	s = run(&c, &m, &t, TRIALS_MAX);
	search_judge(s, &r);
	assert_int_equal(batch_of(s, r.best), 24);
	assert_int_equal(r.limit, SEARCH_BY_SLO);
	for (size_t i = 0; i < search_npoints(s); i++) {
		const uint64_t b = batch_of(s, i);

		assert_int_equal(search_holds(s, i),
				 b <= 24 ? DCK_VERDICT_MET : DCK_VERDICT_VIOLATED);
	}
	search_free(s);
}

static void test_slo_nothing(void **state)
{
	machine m = {.rate = rate_roof, .held = 1};
	search_config c = config(1024);
	search_result r;
	trace t;
	search *s;

	(void)state;
	c.limit.ns = 1e6; /* batch 1 takes 9 ms */
	s = run(&c, &m, &t, TRIALS_MAX);
	search_judge(s, &r);
	assert_false(r.found);
	assert_int_equal(r.verdict, DCK_VERDICT_VIOLATED);
	/* No verdict after a single trial. */
	assert_int_equal(t.n, 4);
	search_free(s);
}

static void test_slo_unsure(void **state)
{
	machine m = {.rate = rate_flat, .held = 1};
	search_config c = config(1);
	search_result r;
	trace t;
	search *s;

	(void)state;
	/* Exactly at the limit with an interval around it: one trial is inconclusive. */
	c.limit.ns = 10e6;
	s = run(&c, &m, &t, 1);
	assert_int_equal(search_holds(s, 0), DCK_VERDICT_INCONCLUSIVE);
	search_judge(s, &r);
	assert_false(r.found);
	assert_int_equal(r.verdict, DCK_VERDICT_INCONCLUSIVE);
	search_free(s);
	/* An unknown mean may be below the median. */
	m.held = NAN;
	c.limit = (latency_limit){.kind = LIMIT_MEAN, .ns = 9e6};
	s = run(&c, &m, &t, TRIALS_MAX);
	assert_int_equal(search_holds(s, 0), DCK_VERDICT_INCONCLUSIVE);
	search_free(s);
	/* An unknown percentile is still not below the median. */
	c.limit.kind = LIMIT_PERCENTILE;
	s = run(&c, &m, &t, TRIALS_MAX);
	assert_int_equal(search_holds(s, 0), DCK_VERDICT_VIOLATED);
	search_free(s);
	m.held = 1;
	/* The maximum of all runs counts: it can violate the limit, and no run shows that it is
	 * met. */
	c.limit = (latency_limit){.kind = LIMIT_MAX, .ns = 11e6};
	s = run(&c, &m, &t, TRIALS_MAX);
	assert_int_equal(search_holds(s, 0), DCK_VERDICT_INCONCLUSIVE);
	search_judge(s, &r);
	assert_true(r.found);
	assert_int_equal(r.verdict, DCK_VERDICT_INCONCLUSIVE);
	search_free(s);
	m.held = 1.2;
	s = run(&c, &m, &t, TRIALS_MAX);
	assert_int_equal(search_holds(s, 0), DCK_VERDICT_VIOLATED);
	search_judge(s, &r);
	assert_false(r.found);
	assert_int_equal(r.verdict, DCK_VERDICT_VIOLATED);
	search_free(s);
}

/* --- settings */

static void test_settings(void **state)
{
	machine m = {.rate = rate_settings};
	search_config c = config(64);
	search_result r;
	trace t;
	search *s;

	(void)state;
	c.settings = 3;
	s = run(&c, &m, &t, TRIALS_MAX);
	/* Each size is tried with every setting before the next size. */
	for (size_t i = 0; i < 7 * 3; i++)
		assert_int_equal(t.batch[i], 1u << i / 3);
	for (size_t i = 0; i < 21; i += 3)
		assert_int_equal(
		    (1u << t.setting[i]) + (1u << t.setting[i + 1]) + (1u << t.setting[i + 2]), 7);
	search_judge(s, &r);
	assert_int_equal(batch_of(s, r.best), 24);
	assert_int_equal(search_get(s, r.best)->setting, 1);
	assert_int_equal(search_get(s, r.knee)->setting, 1);
	search_free(s);
}

/* --- other results */

static void test_values(void **state)
{
	static const uint64_t list[] = {4};
	static const double rates[] = {400, 100, 200, 400};
	search_config c = config(1);
	search_ask ask;
	search *s;
	bool more;

	(void)state;
	c.batches = list;
	c.nbatches = 1;
	s = search_new(&c);
	for (size_t i = 0; i < 4; i++) {
		search_outcome o = {.rate = {rates[i], rates[i] / 2, rates[i] * 2},
				    .latency = {4e9 / rates[i], NAN, NAN}};

		assert_int_equal(search_next(s, &more, &ask, NULL), DCK_OK);
		assert_true(more);
		assert_int_equal(search_tell(s, &o, NULL), DCK_OK);
		if (i <= 1) {
			/* One trial: its own interval; the first round discards that of growth. */
			assert_true(fabs(search_rate(s, 0).value - rates[i]) < 1e-9);
			assert_true(fabs(search_rate(s, 0).lo - rates[i] / 2) < 1e-9);
		}
	}
	/* Logarithms of 100, 200, 400: mean log 200, standard deviation log 2; t(0.975, 2). */
	const double half = 4.302652729911275 * log(2) / sqrt(3);

	assert_true(fabs(search_rate(s, 0).value - 200) < 1e-9);
	assert_true(fabs(search_rate(s, 0).lo - 200 * exp(-half)) < 1e-7);
	assert_true(fabs(search_rate(s, 0).hi - 200 * exp(half)) < 1e-5);
	assert_true(fabs(search_latency(s, 0).value - 2e7) < 1);
	assert_int_equal(search_next(s, &more, &ask, NULL), DCK_OK);
	assert_false(more);
	search_free(s);
}

static void test_replay(void **state)
{
	machine m = {.rate = rate_peak, .noise = 0.03, .random = 11};
	const search_config c = config(256);
	trace t;
	search *s = run(&c, &m, &t, TRIALS_MAX), *again = search_new(&c);
	search_ask ask;
	bool more;

	(void)state;
	assert_int_equal(search_ntrials(s), t.n);
	for (size_t i = 0; i < t.n; i++) {
		assert_int_equal(search_next(again, &more, &ask, NULL), DCK_OK);
		assert_true(more);
		assert_int_equal(ask.batch, t.batch[i]);
		assert_int_equal(ask.round, t.round[i]);
		assert_int_equal(search_tell(again, &search_trial_get(s, i)->outcome, NULL),
				 DCK_OK);
	}
	assert_int_equal(search_next(again, &more, &ask, NULL), DCK_OK);
	assert_false(more);
	assert_int_equal(search_left(again), 0);
	search_free(s);
	search_free(again);
}

static void test_pareto(void **state)
{
	machine m = {.rate = rate_peak};
	const search_config c = config(128);
	bool front[64];
	trace t;
	search *s = run(&c, &m, &t, TRIALS_MAX);

	(void)state;
	assert_true(search_npoints(s) <= 64);
	search_pareto(s, front, (double[128]){0});
	/* Beyond the peak both get worse. Batch 1 takes longer than 2 with a lower rate. */
	for (size_t i = 0; i < search_npoints(s); i++)
		if (front[i] != (batch_of(s, i) <= 24 && batch_of(s, i) > 1))
			fail_msg("batch %llu", (unsigned long long)batch_of(s, i));
	search_free(s);
	/* Latency grows with throughput: every size is Pareto-optimal. */
	m = (machine){.rate = rate_roof};
	s = run(&c, &m, &t, TRIALS_MAX);
	search_pareto(s, front, (double[128]){0});
	for (size_t i = 0; i < search_npoints(s); i++)
		assert_true(front[i]);
	search_free(s);
}

static void test_order(void **state)
{
	machine m = {.rate = rate_settings};
	search_config c = config(64);
	size_t order[256];
	trace t;
	search *s;

	(void)state;
	c.settings = 2;
	s = run(&c, &m, &t, TRIALS_MAX);
	search_order(s, order);
	for (size_t i = 1; i < search_npoints(s); i++) {
		const search_point *a = search_get(s, order[i - 1]), *b = search_get(s, order[i]);

		assert_true(a->setting < b->setting ||
			    (a->setting == b->setting && a->batch < b->batch));
	}
	search_free(s);
}

static void test_no_memory_of_ours(void **state)
{
	const search_config c = config(256);
	fault_alloc fault;

	(void)state;
	for (size_t nth = 1;; nth++) {
		machine m = {.rate = rate_peak};
		dck_status status = DCK_OK;
		search_ask ask;
		bool more = true;
		search *s;

		fault_alloc_begin(&fault, nth);
		s = search_new(&c);
		for (size_t i = 0; s && more && status == DCK_OK; i++) {
			status = search_next(s, &more, &ask, NULL);
			if (status == DCK_OK && more) {
				const search_outcome o = measure(&m, &ask, i);
				status = search_tell(s, &o, NULL);
			}
		}
		search_free(s);
		dck_set_allocator(NULL);
		assert_int_equal(fault.out, 0);
		if (s && status == DCK_OK)
			break;
	}
	assert_true(fault.calls >= 3);
}

int test_search(void);
int test_search(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_peak),
	    cmocka_unit_test(test_roof),
	    cmocka_unit_test(test_max_batch),
	    cmocka_unit_test(test_too_long),
	    cmocka_unit_test(test_list),
	    cmocka_unit_test(test_memory),
	    cmocka_unit_test(test_no_memory_at_all),
	    cmocka_unit_test(test_error),
	    cmocka_unit_test(test_fails_in_round),
	    cmocka_unit_test(test_rounds_are_blocks),
	    cmocka_unit_test(test_drift),
	    cmocka_unit_test(test_single_trial_above),
	    cmocka_unit_test(test_let_go),
	    cmocka_unit_test(test_ends_anywhere),
	    cmocka_unit_test(test_unresolved),
	    cmocka_unit_test(test_resolved),
	    cmocka_unit_test(test_noisy),
	    cmocka_unit_test(test_slo),
	    cmocka_unit_test(test_slo_nothing),
	    cmocka_unit_test(test_slo_unsure),
	    cmocka_unit_test(test_settings),
	    cmocka_unit_test(test_values),
	    cmocka_unit_test(test_replay),
	    cmocka_unit_test(test_pareto),
	    cmocka_unit_test(test_order),
	    cmocka_unit_test(test_no_memory_of_ours),
	};

	return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
