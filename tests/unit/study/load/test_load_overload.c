/* test_load_overload.c - the rule for an overloaded server on simulated queues, whose answer is
 * known.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/rng.h"
#include "study/load/load_overload.h"

enum { MOST = 400, QUEUES = 400 };

static double begin[MOST], end[MOST], work[MOST];
static uint64_t random_state;

static double exponential(double mean)
{
	return -mean * log(((double)(rng_next(&random_state) >> 11) + 0.5) * 0x1p-53);
}

/* One server, or one for each request; Poisson arrivals, one a ms in the mean; random or constant
 * service, ms. */
typedef struct queue {
	size_t n;
	double service;
	int constant, parallel;
} queue;

static double rate_of(const queue *q)
{
	double at = 0, free = 0;

	for (size_t i = 0; i < q->n; i++) {
		const double takes = q->constant ? q->service : exponential(q->service);

		at += exponential(1);
		free = (q->parallel || free < at ? at : free) + takes;
		begin[i] = 1e6 * at;
		end[i] = 1e6 * free;
	}
	return load_overload(begin, end, q->n, work);
}

static int found(queue q)
{
	int n = 0;

	random_state = 1;
	for (int i = 0; i < QUEUES; i++)
		n += rate_of(&q) > 0;
	return n;
}

static void test_overloaded(void **state)
{
	double rate;

	(void)state;
	assert_true(found((queue){.n = 40, .service = 2, .constant = 1}) >= QUEUES * 95 / 100);
	assert_true(found((queue){.n = 40, .service = 6}) >= QUEUES * 9 / 10);
	assert_true(found((queue){.n = 80, .service = 2}) >= QUEUES * 98 / 100);
	assert_true(found((queue){.n = 400, .service = 1.5}) >= QUEUES * 98 / 100);
	random_state = 2;
	rate = rate_of(&(queue){.n = 400, .service = 2, .constant = 1});
	assert_true(rate > 499 && rate < 501);
}

static void test_not_overloaded(void **state)
{
	(void)state;
	for (size_t n = 40; n <= MOST; n *= 2) {
		assert_true(found((queue){.n = n, .service = 0.8}) <= QUEUES / 100);
		assert_true(found((queue){.n = n, .service = 0.9, .constant = 1}) <= QUEUES / 100);
		/* Long answers, in parallel: they take as long as all arrivals, half of it, a
		 * tenth. */
		for (double share = 0.1; share < 1.1; share += 0.3) {
			queue q = {.n = n, .service = share * (double)n, .parallel = 1};

			assert_true(found(q) <= QUEUES * 2 / 100);
			q.constant = 1;
			assert_int_equal(found(q), 0);
		}
	}
	assert_true(load_overload(begin, end, 29, work) == 0);
}

int test_load_overload(void);

int test_load_overload(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_overloaded),
	    cmocka_unit_test(test_not_overloaded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
