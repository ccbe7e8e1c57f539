/* test_search_limit.c - the best size of a search among sizes that meet, may meet and violate a
 * limit on the latency.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/throughput/search.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* A simulated machine: half of its peak of 1000 items/s at batch 8. */
typedef struct limited {
	uint64_t unknown_at; /* the limited statistic is not known from this batch on; 0: never */
	double first_held;   /* it over the latency, in the trial that finds a size; 0: 1 */
} limited;

static search *run(const limited *m, latency_limit limit, const uint64_t *batches, size_t n)
{
	const search_config c = {.batches = batches,
				 .nbatches = n,
				 .settings = 1,
				 .level = 0.95,
				 .precision = 0.01,
				 .limit = limit,
				 .rounds_min = 3,
				 .rounds_max = 9,
				 .seed = 1};
	search *s = search_new(&c);
	search_ask ask;
	bool more = true;

	assert_non_null(s);
	while (search_next(s, &more, &ask, NULL) == DCK_OK && more) {
		const double r = 1000.0 * (double)ask.batch / ((double)ask.batch + 8),
			     ns = (double)ask.batch / r * 1e9,
			     of = ask.round == 0 && m->first_held > 0 ? m->first_held : 1,
			     held = m->unknown_at > 0 && ask.batch >= m->unknown_at ? (double)NAN
										    : ns * of;
		const search_outcome o = {.rate = {r, r * 0.99, r * 1.01},
					  .latency = {ns, ns * 0.99, ns * 1.01},
					  .held = {held, held, held}};

		assert_int_equal(search_tell(s, &o, NULL), DCK_OK);
	}
	return s;
}

/* A size that gives more and is not shown to meet the limit is not as good as the best. */
static void test_unsure(void **state)
{
	const uint64_t batches[] = {1, 8, 24};
	const latency_limit limit = {.kind = LIMIT_MEAN, .ns = 1e9};
	search *s = run(&(limited){.unknown_at = 24}, limit, batches, 3);
	search_result r;

	(void)state;
	search_judge(s, &r);
	assert_true(r.found);
	assert_int_equal(r.verdict, DCK_VERDICT_MET);
	assert_int_equal(search_get(s, r.best)->batch, 8);
	assert_int_equal(r.nunresolved, 0);
	assert_int_equal(search_get(s, r.unsure)->batch, 24);
	search_free(s);
	s = run(&(limited){0}, limit, batches, 3);
	search_judge(s, &r);
	assert_int_equal(search_get(s, r.best)->batch, 24);
	assert_true(r.unsure == SIZE_MAX);
	search_free(s);
}

/* One run above it violates a limit on the maximum, also in the trial that found the size. */
static void test_maximum(void **state)
{
	const uint64_t batches[] = {1};
	const latency_limit limit = {.kind = LIMIT_MAX, .ns = 10e6}; /* a run takes 9 ms */
	search *s = run(&(limited){.first_held = 1.2}, limit, batches, 1);
	search_result r;

	(void)state;
	assert_true(search_in_rounds(s, 0) > 0);
	assert_int_equal(search_holds(s, 0), DCK_VERDICT_VIOLATED);
	search_free(s);
	s = run(&(limited){0}, limit, batches, 1);
	assert_int_equal(search_holds(s, 0), DCK_VERDICT_INCONCLUSIVE);
	search_judge(s, &r);
	assert_true(r.found);
	/* Nothing was compared, so no difference is known. */
	assert_true(isnan(r.half));
	search_free(s);
}

int test_search_limit(void);
int test_search_limit(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_unsure),
	    cmocka_unit_test(test_maximum),
	};

	return cmocka_run_group_tests_name("search_limit", tests, NULL, NULL);
}
