/* test_saved_conditions.c - comparison of records of a machine in two states: beside other
 * programs, with processors at another distance.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "saved_build.h"

/* A median, and how many of 100 runs were undisturbed, with their median; alone 0: too few. */
typedef struct made {
	double all, alone;
	int64_t undisturbed; /* -1: not known */
	bool busy, preempted;
} made;

static dck_record *record_of(const char *name, const made *m)
{
	record_builder *b = saved_begin(name, name);
	const double rate = 1e9 / m->all;

	record_metric_interval(b, "latency/median", m->all, m->all * 0.99, m->all * 1.01, 0.95,
			       "made up");
	record_metric_interval(b, "latency/p90", m->all, m->all * 0.99, m->all * 1.01, 0.95,
			       "made up");
	record_metric_interval(b, "throughput/items", rate, rate * 0.99, rate * 1.01, 0.95,
			       "made up");
	if (m->undisturbed >= 0) {
		record_fact_int(b, "samples", "undisturbed", DCK_UNIT_ONE, m->undisturbed);
		record_fact_int(b, "samples", "undisturbed_of", DCK_UNIT_ONE, 100);
	}
	if (m->alone > 0)
		record_metric_interval(b, "latency/undisturbed", m->alone, m->alone * 0.98,
				       m->alone * 1.02, 0.95, "made up");
	else
		record_metric_absent(b, "latency/undisturbed", "0 of 100 runs");
	if (m->busy)
		record_note(b, "busy-neighbours", "other programs used 1 of 2 cores");
	if (m->preempted)
		record_note(b, "preempted", "3 times a run");
	return saved_end(b);
}

static dck_record *pair_compare(const made *a, const made *b, const char *metric)
{
	dck_record *from = record_of("a", a), *to = record_of("b", b), *r;
	dck_compare_config c = plain();

	c.metric = metric;
	r = compare_two(from, to, &c);
	dck_record_free(from);
	dck_record_free(to);
	return r;
}

static void a_verdict_holds_by_undisturbed_runs_too(void **state)
{
	const made quiet = {100, 99, 97, false, false};
	static const struct {
		made other;
		const char *verdict;
		double lo, hi; /* of the ratio, rounded; 0: none */
	} cases[] = {
	    /* Undisturbed medians differ by 1 %. */
	    {{200, 100, 30, true, true}, "undecided", 0.982, 2.028},
	    {{200, 150, 30, true, true}, "slower", 1.473, 2.028},
	    {{100, 100, 30, true, true}, "same", 0.982, 1.039},
	    {{200, 0, 0, true, true}, "undecided", 0, 0},
	    /* Nearly all runs are undisturbed, or nothing was taken from a run. */
	    {{200, 100, 95, true, true}, "slower", 1.972, 2.028},
	    {{200, 0, -1, true, false}, "slower", 1.972, 2.028},
	    {{200, 0, -1, true, true}, "undecided", 0, 0},
	    {{200, 0, -1, false, true}, "slower", 1.972, 2.028},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (int rate = 0; rate < 2; rate++) {
			dck_record *from = record_of("a", &quiet);
			dck_record *to = record_of("b", &cases[i].other), *r;
			dck_compare_config c = plain();
			const dck_metric *m;

			c.metric = rate ? "throughput/items" : NULL;
			c.margin = 0.05;
			r = compare_two(from, to, &c);
			m = dck_record_metric(r, "compare/ratio");
			if (strcmp(fact_text(r, "compare", "verdict"), cases[i].verdict) != 0)
				fail_msg("case %zu: %s", i, fact_text(r, "compare", "verdict"));
			assert_true(cases[i].lo > 0 ? m->level > 0 : m->level == 0);
			if (cases[i].lo > 0 &&
			    (fabs(m->lo - cases[i].lo) > 1e-3 || fabs(m->hi - cases[i].hi) > 1e-3))
				fail_msg("case %zu, %d: %g to %g", i, rate, m->lo, m->hi);
			dck_record_free(r);
			dck_record_free(from);
			dck_record_free(to);
		}
}

static void a_record_that_met_none_is_its_own_undisturbed_one(void **state)
{
	/* That of runs too short for readings around each. */
	const made quiet = {100, 0, -1, false, false}, busy = {200, 101, 40, true, true};
	dck_record *r = pair_compare(&quiet, &busy, NULL);

	(void)state;
	assert_string_equal(fact_text(r, "compare", "verdict"), "undecided");
	near(dck_record_metric(r, "compare/ratio")->lo,
	     1.01 * exp(-hypot(log(1 / 0.98), log(1.01))));
	dck_record_free(r);
}

static void other_statistics_have_no_interval(void **state)
{
	const made quiet = {100, 99, 97, false, false}, busy = {200, 150, 30, true, true};
	dck_record *r = pair_compare(&quiet, &busy, "latency/p90");
	const char *why = dck_record_note(r, "undecided")->text;

	(void)state;
	assert_string_equal(fact_text(r, "compare", "verdict"), "undecided");
	if (!strstr(why, "while 'b' was measured, and undisturbed runs give only a median"))
		fail_msg("%s", why);
	dck_record_free(r);
	/* Where both met none it is decided. */
	r = pair_compare(&quiet, &(made){200, 150, 97, false, false}, "latency/p90");
	assert_string_equal(fact_text(r, "compare", "verdict"), "slower");
	dck_record_free(r);
}

static dck_record *at_distance(const char *name, double v, double core_ns, double busy)
{
	record_builder *b = saved_begin(name, name);

	record_metric_interval(b, "latency/median", v, v * 0.99, v * 1.01, 0.95, "made up");
	record_metric_interval(b, "latency/undisturbed", v, v * 0.99, v * 1.01, 0.95, "made up");
	record_metric_real(b, "cpu/ratio", busy, "made up");
	if (core_ns > 0)
		record_fact_real(b, "process", "core_latency", DCK_UNIT_NS, core_ns);
	else
		record_fact_absent(b, "process", "core_latency", "one processor");
	return saved_end(b);
}

/* Four times the core-to-core latency explains up to four times the time, on several processors. */
static void the_distance_of_processors_is_allowed_for(void **state)
{
	static const struct {
		double v, core_ns, busy;
		const char *verdict, *reverse;
	} cases[] = {
	    {150, 400, 1.9, "undecided", "undecided"}, {150, 100, 1.9, "slower", "faster"},
	    {450, 400, 1.9, "slower", "faster"},       {390, 400, 1.9, "undecided", "undecided"},
	    {80, 400, 1.9, "faster", "slower"},	       {150, 400, 1, "slower", "faster"},
	    {150, 0, 1.9, "slower", "faster"},	       {150, 140, 1.9, "slower", "faster"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (int alone = 0; alone < 2; alone++) {
			dck_record *near_by = at_distance("a", 100, 100, 1.9), *r;
			dck_record *other =
			    at_distance("b", cases[i].v, cases[i].core_ns, cases[i].busy);
			dck_compare_config c = plain();

			c.undisturbed = alone;
			r = compare_two(near_by, other, &c);
			if (strcmp(fact_text(r, "compare", "verdict"), cases[i].verdict) != 0)
				fail_msg("case %zu: %s", i, fact_text(r, "compare", "verdict"));
			dck_record_free(r);
			r = compare_two(other, near_by, &c);
			if (strcmp(fact_text(r, "compare", "verdict"), cases[i].reverse) != 0)
				fail_msg("case %zu: %s", i, fact_text(r, "compare", "verdict"));
			if (i == 0)
				assert_non_null(
				    strstr(dck_record_note(r, "undecided")->text,
					   "core-to-core latency was 100 ns, of 'b' 400 ns"));
			dck_record_free(r);
			dck_record_free(near_by);
			dck_record_free(other);
		}
}

int test_saved_conditions(void);
int test_saved_conditions(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_verdict_holds_by_undisturbed_runs_too),
	    cmocka_unit_test(a_record_that_met_none_is_its_own_undisturbed_one),
	    cmocka_unit_test(other_statistics_have_no_interval),
	    cmocka_unit_test(the_distance_of_processors_is_allowed_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
