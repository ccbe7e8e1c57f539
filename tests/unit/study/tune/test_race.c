/* test_race.c - the search for the fastest configuration, with invented trials whose times are
 * exact.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/tune/race.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define MS 1e6

/* What the trials of a test are. */
typedef struct world {
	double effect[RACE_DIMS_MAX][4]; /* factors of the time; 0: 1 */
	double cost_ns;
	size_t failing_dim, failing_value; /* value 0: none fails */
	race_end failing_end;
	size_t differing_dim, differing_value; /* outputs */
	bool no_outputs;
	double noise;
	double together;   /* factor of values 1 of dimensions 0 and 1; 0: 1 */
	size_t over_dim;   /* half of the runs are over the limit at value 1 of it */
	bool over_default; /* the default's too */
	/* Counted. */
	size_t trials, outputs, pairs;
	race_stage last;
} world;

static double factor_of(const world *w, const race_arm *a)
{
	double f = 1;

	for (size_t d = 0; d < RACE_DIMS_MAX; d++)
		if (a->value[d] < 4 && w->effect[d][a->value[d]] > 0)
			f *= w->effect[d][a->value[d]];
	return w->together > 0 && a->value[0] == 1 && a->value[1] == 1 ? f * w->together : f;
}

static race_outcome outcome_of(world *w, const race *r, const race_ask *ask)
{
	const race_arm *a = race_arm_get(r, ask->arm);
	race_outcome o = {.cost_ns = w->cost_ns, .error = 3e-6};
	/* A noise that is the same in each run of the test, and 0 on average. */
	static const double noise[] = {1, -1, 0, 0.5, -0.5};

	if (ask->outputs) {
		w->outputs++;
		o.differs =
		    w->differing_value > 0 && a->value[w->differing_dim] == w->differing_value;
		if (w->no_outputs)
			o.error = NAN;
		return o;
	}
	w->trials++;
	w->pairs += ask->stage == RACE_CONFIRM;
	if (w->failing_value > 0 && a->value[w->failing_dim] == w->failing_value) {
		o.end = w->failing_end;
		snprintf(o.why, sizeof o.why, "it fails");
		return o;
	}
	o.latency_ns = 10 * MS * factor_of(w, a) * exp(w->noise * noise[w->trials % 5]);
	o.value_ns = o.latency_ns;
	o.mean_ns = o.latency_ns;
	o.runs = 20;
	o.over = a->value[w->over_dim] == 1 || (w->over_default && ask->arm == 0) ? 10 : 0;
	o.peak_rss_bytes = 100 << 20;
	return o;
}

static race_config config_of(size_t ndims, const size_t *nvalues)
{
	race_config c = {.ndims = ndims,
			 .level = 0.95,
			 .margin = 0.01,
			 .budget_ns = 100e9,
			 .verify = true,
			 .seed = 1};

	for (size_t d = 0; d < ndims; d++) {
		c.nvalues[d] = nvalues[d];
		c.applies[d] = 1;
	}
	return c;
}

static race *search(const race_config *c, world *w, race_result *ret)
{
	race *r = race_new(c);
	race_ask ask;

	assert_non_null(r);
	if (!(w->cost_ns > 0))
		w->cost_ns = 0.5e9;
	while (race_next(r, &ask)) {
		race_outcome o;

		assert_true(ask.limit_ns > 0);
		/* After RACE there may be another pass. */
		assert_true(ask.stage >= w->last ||
			    (ask.stage == RACE_SCREEN && w->last == RACE_RACE));
		w->last = ask.stage;
		if (ask.stage == RACE_VERIFY) /* may be entered again */
			w->last = RACE_VERIFY;
		o = outcome_of(w, r, &ask);
		race_tell(r, &o);
	}
	assert_true(race_used_ns(r) <= 1.05 * c->budget_ns);
	race_judge(r, ret);
	return r;
}

static void assert_values(const race *r, size_t arm, const uint8_t *value, size_t n)
{
	for (size_t d = 0; d < n; d++)
		assert_int_equal(race_arm_get(r, arm)->value[d], value[d]);
}

static const size_t three[] = {3, 2, 2};

/* Without a faster configuration the search ends early if that is known, and else uses its time. */
static void test_noise_takes_more_passes(void **state)
{
	const race_config c = config_of(3, three);
	world quiet = {.noise = 1e-4}, noisy = {.noise = 0.5};
	race_result x;
	race *r = search(&c, &quiet, &x);

	(void)state;
	assert_false(x.found);
	assert_true(race_used_ns(r) < 0.8 * c.budget_ns);
	race_free(r);
	r = search(&c, &noisy, &x);
	assert_false(x.found);
	assert_true(race_used_ns(r) > 0.8 * c.budget_ns);
	race_free(r);
}

/* The effects of two options multiply: their combination is found and confirmed, and its ratio is
 * exact; the third option does nothing, and stays at its default. */
static void test_combination(void **state)
{
	const race_config c = config_of(3, three);
	world w = {.effect = {{1, 0.8, 1.5}, {1, 0.9}, {1, 1}}};
	race_result x;
	race *r = search(&c, &w, &x);

	(void)state;
	assert_true(x.found);
	assert_values(r, x.winner, (const uint8_t[]){1, 1, 0}, 3);
	assert_true(fabs(x.ratio.value - 0.72) < 1e-12);
	assert_true(x.ratio.lo <= 0.72 && x.ratio.hi >= 0.72 && x.ratio.hi < 1);
	assert_int_equal(race_arm_get(r, x.winner)->outputs, RACE_AGREE);
	assert_int_equal(x.excluded, 0);
	assert_int_equal(w.pairs, 2 * x.ratio.n);
	/* A single option's ratio is exact too. */
	assert_true(fabs(race_ratio(r, 1).value - 0.8) < 1e-9);
	assert_true(fabs(race_default_latency(r).value - 10 * MS) < 1);
	race_free(r);
}

/* Arms that met in two rounds have intervals, also after the default has left them. */
static void test_intervals(void **state)
{
	const size_t nvalues[] = {4, 4, 2, 2};
	const race_config c = config_of(4, nvalues);
	world w = {.effect = {{1, 0.5, 0.6, 0.7}, {1, 0.9, 0.95, 0.8}, {1, 0.9}, {1, 0.95}},
		   .noise = 0.02};
	race_result x;
	race *r = search(&c, &w, &x);

	(void)state;
	assert_true(x.found);
	for (size_t i = 1; i < race_narms(r); i++) {
		const race_number ratio = race_ratio(r, i);

		if (ratio.n > 1)
			assert_true(ratio.lo < ratio.value && ratio.value < ratio.hi);
	}
	race_free(r);
}

/* No option helps: the default is the answer, without a confirmation. */
static void test_default_is_best(void **state)
{
	const race_config c = config_of(3, three);
	world w = {.effect = {{1, 1.2, 1.5}, {1, 1.1}, {1, 1.3}}};
	race_result x;
	race *r = search(&c, &w, &x);

	(void)state;
	assert_false(x.found);
	assert_int_equal(x.winner, 0);
	assert_int_equal(w.pairs, 0);
	assert_int_equal(x.ratio.n, 0);
	race_free(r);
}

/* All are equal, with noise: nothing is named faster. */
static void test_equal(void **state)
{
	const race_config c = config_of(3, three);
	world w = {.noise = 0.05};
	race_result x;
	race *r = search(&c, &w, &x);

	(void)state;
	assert_false(x.found);
	race_free(r);
}

/* A value that fails is a row; its combinations are not tried, and the rest goes on. */
static void test_failing(void **state)
{
	static const race_end ends[] = {RACE_ERROR, RACE_MEMORY, RACE_TIME};
	const race_config c = config_of(3, three);

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		world w = {.effect = {{1, 0.5, 0.8}, {1, 0.9}},
			   .failing_value = 1,
			   .failing_end = ends[i]};
		race_result x;
		race *r = search(&c, &w, &x);

		assert_true(x.found);
		assert_values(r, x.winner, (const uint8_t[]){2, 1, 0}, 3);
		assert_int_equal(race_arm_get(r, 1)->end, ends[i]);
		assert_string_equal(race_arm_get(r, 1)->why, "it fails");
		for (size_t k = 2; k < race_narms(r); k++)
			assert_int_not_equal(race_arm_get(r, k)->value[0], 1);
		race_free(r);
	}
}

/* The fastest gives other outputs: the next one is the answer. */
static void test_outputs_differ(void **state)
{
	const race_config c = config_of(3, three);
	world w = {.effect = {{1, 0.5, 0.8}, {1, 0.9}}, .differing_dim = 0, .differing_value = 1};
	race_result x;
	race *r = search(&c, &w, &x);

	(void)state;
	assert_true(x.excluded >= 1);
	assert_true(x.found);
	assert_int_not_equal(race_arm_get(r, x.winner)->value[0], 1);
	race_free(r);
	w = (world){.effect = {{1, 0.5, 0.8}, {1, 0.9}}, .no_outputs = true};
	r = search(&c, &w, &x);
	assert_true(x.found);
	assert_int_equal(race_arm_get(r, x.winner)->outputs, RACE_UNKNOWN);
	race_free(r);
}

/* Two engines: options exist for those that have them, and an engine that fails takes its options
 * with it. */
static void test_engines(void **state)
{
	const size_t nvalues[] = {2, 2, 2};
	race_config c = config_of(3, nvalues);
	world w = {.effect = {{1, 0.7}, {1, 0.9}, {1, 0.5}}};
	race_result x;
	race *r;

	(void)state;
	c.engines = true;
	c.applies[1] = 3; /* both engines */
	c.applies[2] = 1; /* the default's alone */
	r = search(&c, &w, &x);
	/* 0.5 * 0.9 of the default's engine is better than 0.7 * 0.9 of the other. */
	assert_true(x.found);
	assert_values(r, x.winner, (const uint8_t[]){0, 1, 1}, 3);
	for (size_t i = 0; i < race_narms(r); i++)
		assert_false(race_arm_get(r, i)->value[0] == 1 &&
			     race_arm_get(r, i)->value[2] == 1);
	race_free(r);
	w = (world){.effect = {{1, 0.1}, {1, 0.9}, {1, 0.95}},
		    .failing_dim = 0,
		    .failing_value = 1,
		    .failing_end = RACE_ERROR};
	r = search(&c, &w, &x);
	assert_true(x.found);
	assert_values(r, x.winner, (const uint8_t[]){0, 1, 1}, 3);
	for (size_t i = 0; i < race_narms(r); i++)
		if (race_arm_get(r, i)->value[0] == 1 && race_arm_get(r, i)->value[1] == 1)
			assert_true(race_arm_get(r, i)->skipped);
	race_free(r);
}

/* Little time: what cannot be tried is skipped, and without time for pairs nothing is claimed. */
static void test_little_time(void **state)
{
	race_config c = config_of(3, three);
	world w = {.effect = {{1, 0.5, 0.8}, {1, 0.9}}};
	race_result x;
	size_t skipped = 0;
	race *r;

	(void)state;
	c.budget_ns = 5e9; /* ten trials */
	r = search(&c, &w, &x);
	for (size_t i = 0; i < race_narms(r); i++)
		skipped += race_arm_get(r, i)->skipped;
	assert_true(skipped > 0);
	assert_false(x.found);
	race_free(r);
	/* One trial takes all of it. */
	w = (world){.cost_ns = 5e9};
	r = search(&c, &w, &x);
	assert_false(x.found);
	assert_int_equal(w.trials, 1);
	race_free(r);
}

/* Values left out for want of time are tried in the time that CONFIRM does not need, because none
 * of the first ones is faster. */
static void test_later_passes(void **state)
{
	race_config c = config_of(7, (const size_t[]){3, 3, 3, 3, 3, 3, 3});
	world w = {.effect = {[1] = {1, 2, 2}, [3] = {1, 2, 2}, [6] = {1, 1.5, 0.5}}};
	race_result x;
	race *r;

	(void)state;
	c.budget_ns = 16e9; /* 32 trials; half of them for CONFIRM */
	r = search(&c, &w, &x);
	assert_true(x.found);
	assert_values(r, x.winner, (const uint8_t[]){0, 0, 0, 0, 0, 0, 2}, 7);
	race_free(r);
	/* Where nothing is faster, nothing is claimed, and the time ends. */
	w = (world){.effect = {[1] = {1, 2, 2}, [3] = {1, 2, 2}, [6] = {1, 1.5, 1.5}}};
	r = search(&c, &w, &x);
	assert_false(x.found);
	assert_int_equal(w.pairs, 0);
	for (size_t i = 0; i < race_narms(r); i++)
		assert_false(race_arm_get(r, i)->skipped);
	race_free(r);
}

/* Time for the single values and the fewest pairs, not for rounds between: the best value is
 * confirmed, not a combination that has no trial. */
static void test_no_time_to_race(void **state)
{
	race_config c = config_of(3, three);
	world w = {.effect = {{1, 0.5, 0.8}, {1, 0.9}}, .cost_ns = 1e9};
	race_result x;
	race *r;

	(void)state;
	c.budget_ns = 19e9; /* the pilot, five single values, six pairs */
	r = search(&c, &w, &x);
	assert_true(x.found);
	assert_values(r, x.winner, (const uint8_t[]){1, 0, 0}, 3);
	assert_int_equal(w.pairs, 12);
	race_free(r);
}

/* The front: of two equally fast ones the first, a slower one only if it needs less memory. */
static void test_front(void **state)
{
	const race_config c = config_of(3, three);
	world w = {.effect = {{1, 0.8, 1.5}, {1, 0.9}}};
	size_t front[RACE_FRONT_MAX];
	race_result x;
	race *r = search(&c, &w, &x);

	(void)state;
	assert_int_equal(race_front(r, front), 2);
	assert_int_equal(front[0], x.winner);
	assert_int_equal(front[1], 0); /* its error is 0 */
	race_free(r);
}

/* The same outcomes give the same questions. */
static void test_replay(void **state)
{
	const race_config c = config_of(3, three);
	world w = {.effect = {{1, 0.8, 1.5}, {1, 0.9}}, .noise = 0.03, .cost_ns = 0.5e9}, v = w;
	race *a = race_new(&c), *b = race_new(&c);
	race_ask x, y;

	(void)state;
	while (race_next(a, &x)) {
		assert_true(race_next(b, &y));
		assert_int_equal(x.stage, y.stage);
		assert_int_equal(x.arm, y.arm);
		assert_int_equal(x.round, y.round);
		const race_outcome o = outcome_of(&w, a, &x), p = outcome_of(&v, b, &y);
		race_tell(a, &o);
		race_tell(b, &p);
	}
	assert_false(race_next(b, &y));
	race_free(a);
	race_free(b);
}

/* Two values that are slower alone and faster together are found, with a third that helps alone. */
static void test_pair(void **state)
{
	const size_t nvalues[] = {2, 2, 2, 2};
	const race_config c = config_of(4, nvalues);
	world w = {.effect = {{1, 1.2}, {1, 1.1}, {1, 0.9}, {1, 1.05}}, .together = 0.4};
	race_result x;
	race *r = search(&c, &w, &x);

	(void)state;
	assert_true(x.found);
	assert_values(r, x.winner, (const uint8_t[]){1, 1, 1, 0}, 4);
	assert_true(fabs(x.ratio.value - 1.2 * 1.1 * 0.9 * 0.4) < 1e-12);
	race_free(r);
}

/* The fastest value violates the limit: another one is the answer, and its verdict is known. */
static void test_limit(void **state)
{
	race_config c = config_of(3, three);
	world w = {.effect = {{1, 0.5, 0.8}, {1, 0.9}}};
	race_result x;
	race *r;

	(void)state;
	c.limit = (latency_limit){.kind = LIMIT_PERCENTILE, .p = 0.9, .ns = 20 * MS};
	r = search(&c, &w, &x);
	assert_true(x.found);
	assert_values(r, x.winner, (const uint8_t[]){2, 1, 0}, 3);
	assert_int_equal(race_holds(r, 1), DCK_VERDICT_VIOLATED);
	assert_int_equal(race_holds(r, x.winner), DCK_VERDICT_MET);
	assert_int_equal(race_holds(r, 0), DCK_VERDICT_MET);
	race_free(r);
	/* The default violates it, which does not keep others from being faster. */
	w = (world){.effect = {{1, 0.5, 0.8}, {1, 0.9}}, .over_default = true};
	r = search(&c, &w, &x);
	assert_true(x.found);
	assert_int_equal(race_holds(r, 0), DCK_VERDICT_VIOLATED);
	race_free(r);
	/* The mean, and the maximum, which nothing shows to be met. */
	w = (world){.effect = {{1, 0.5, 0.8}, {1, 0.9}}, .noise = 0.01};
	c.limit = (latency_limit){.kind = LIMIT_MEAN, .ns = 7 * MS};
	r = search(&c, &w, &x);
	assert_int_equal(race_holds(r, 0), DCK_VERDICT_VIOLATED);
	assert_int_equal(race_holds(r, x.winner), DCK_VERDICT_MET);
	race_free(r);
	w = (world){.effect = {{1, 0.5, 0.8}, {1, 0.9}}};
	c.limit = (latency_limit){.kind = LIMIT_MAX, .ns = 20 * MS};
	r = search(&c, &w, &x);
	assert_int_equal(race_holds(r, 1), DCK_VERDICT_VIOLATED);
	assert_int_equal(race_holds(r, 0), DCK_VERDICT_INCONCLUSIVE);
	race_free(r);
}

/* Short trials: pairs are added while there is time and the difference is not known. */
static void test_many_pairs(void **state)
{
	const race_config c = config_of(3, three);
	world w = {.effect = {{1, 0.99, 1.5}}, .noise = 0.1, .cost_ns = 0.1e9};
	race_result x;
	race *r = search(&c, &w, &x);

	(void)state;
	if (x.winner > 0)
		assert_true(x.found || x.ratio.n > 64);
	race_free(r);
}

/* Where values are means, the latency over the value differs from trial to trial: one trial with a
 * pause does not decide what a run has of it. Time before the first step counts. */
static void test_items(void **state)
{
	const race_config c = config_of(1, three);
	race *r = race_new(&c);
	race_ask ask;

	(void)state;
	assert_non_null(r);
	for (unsigned i = 0; i < 4; i++) {
		race_outcome o = {.cost_ns = 1e9, .latency_ns = 8 * MS, .value_ns = 8 * MS};

		assert_true(race_next(r, &ask));
		if (ask.arm == 0 && race_arm_get(r, 0)->trials == 1)
			o.value_ns = 32 * MS;
		o.before_ns = i == 0 ? 5e8 : i == 1 ? (double)NAN : 0;
		race_tell(r, &o);
	}
	assert_true(race_arm_get(r, 0)->trials >= 2);
	assert_float_equal(race_items(r, 0), exp(log(0.25) / (double)race_arm_get(r, 0)->trials),
			   1e-12);
	assert_float_equal(race_latency(r, 0), 8 * MS, 1e-3);
	assert_float_equal(race_used_ns(r), 4.5e9, 1);
	race_free(r);
}

int test_race(void);
int test_race(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_combination),	    cmocka_unit_test(test_noise_takes_more_passes),
	    cmocka_unit_test(test_default_is_best), cmocka_unit_test(test_equal),
	    cmocka_unit_test(test_failing),	    cmocka_unit_test(test_outputs_differ),
	    cmocka_unit_test(test_engines),	    cmocka_unit_test(test_little_time),
	    cmocka_unit_test(test_later_passes),    cmocka_unit_test(test_no_time_to_race),
	    cmocka_unit_test(test_front),	    cmocka_unit_test(test_replay),
	    cmocka_unit_test(test_intervals),	    cmocka_unit_test(test_pair),
	    cmocka_unit_test(test_limit),	    cmocka_unit_test(test_many_pairs),
	    cmocka_unit_test(test_items),
	};

	return cmocka_run_group_tests_name("race", tests, NULL, NULL);
}
