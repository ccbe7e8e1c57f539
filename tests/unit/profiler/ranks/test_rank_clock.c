/* test_rank_clock.c - the clock of a rank, from simulated exchanges with known offset and drift.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"
#include "profiler/ranks/rank_clock.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <cmocka.h>

int test_rank_clock(void);

enum { ROUNDS = 30, EACH = 4 };

static double uniform(uint64_t *random)
{
	return (double)(rng_next(random) >> 11) / 9007199254740992.0;
}

typedef struct network {
	double offset_ns, drift; /* of rank 0's clock against the rank's */
	double way_ns, noise_ns; /* time of a way, and the greatest addition to it */
	double back_ns;		 /* addition to the way back: asymmetry */
	double every_ns;
} network;

static int64_t truth(const network *net, int64_t ns)
{
	return ns + (int64_t)llround(net->offset_ns + net->drift * (double)ns);
}

static size_t exchanges_make(const network *net, uint64_t seed, rank_exchange *e)
{
	for (size_t i = 0; i < ROUNDS * EACH; i++) {
		const double queue = uniform(&seed) < 0.3 ? 20 * net->noise_ns : net->noise_ns;
		const double there = net->way_ns + queue * uniform(&seed);
		const double back = net->way_ns + net->back_ns + queue * uniform(&seed);
		const int64_t sent =
		    (int64_t)((double)(i / EACH) * net->every_ns) + (int64_t)(i % EACH) * 1000000;

		e[i].round = i / EACH;
		e[i].sent_ns = sent;
		e[i].received_ns = truth(net, sent + (int64_t)there);
		e[i].answered_ns = truth(net, sent + (int64_t)there + 5000);
		e[i].returned_ns = sent + (int64_t)(there + back) + 5000;
	}
	return ROUNDS * EACH;
}

/* The true time lies within the stated uncertainty, everywhere in the run. */
static void offset_and_drift_are_found(void **state)
{
	static const network nets[] = {
	    {0, 0, 30e3, 5e3, 0, 1e9},
	    {11.56e9, 40e-6, 30e3, 5e3, 0, 1e9},
	    {-3e9, -90e-6, 200e3, 80e3, 0, 1e9},
	    {1e6, 20e-6, 50e3, 5e3, 40e3, 1e9}, /* one way takes longer: within half the trip */
	    {5e6, 0, 50e3, 10e3, 0, 1e6},	/* a short run: an offset alone */
	};
	rank_exchange e[ROUNDS * EACH];
	rank_clock c;

	(void)state;
	for (size_t k = 0; k < sizeof nets / sizeof nets[0]; k++)
		for (uint64_t seed = 1; seed <= 20; seed++) {
			const size_t n = exchanges_make(&nets[k], seed, e);

			rank_clock_fit(e, n, &c);
			assert_true(c.rounds >= 3);
			assert_true(c.within_ns <
				    2 * (nets[k].way_ns + nets[k].noise_ns + nets[k].back_ns));
			for (size_t i = 0; i < n; i += 7) {
				const int64_t off = rank_clock_map(&c, e[i].sent_ns) -
						    truth(&nets[k], e[i].sent_ns);

				assert_true(fabs((double)off) <= c.within_ns);
			}
			if (nets[k].every_ns < 1e9)
				assert_true(c.drift == 0);
			else
				assert_true(fabs(c.drift - nets[k].drift) < 5e-6);
		}
}

static void without_exchanges_nothing_is_claimed(void **state)
{
	/* The answer came before the question: a broken clock. */
	const rank_exchange broken = {1000, 10, 500, 1100, 0};
	rank_clock c;

	(void)state;
	rank_clock_fit(NULL, 0, &c);
	assert_int_equal(c.rounds, 0);
	assert_true(isinf(c.within_ns));
	rank_clock_fit(&broken, 1, &c);
	assert_int_equal(c.rounds, 0);
	assert_true(isinf(c.within_ns));
}

static void one_exchange_gives_an_offset(void **state)
{
	const rank_exchange one = {1000, 5500, 5600, 2100, 0};
	rank_clock c;

	(void)state;
	rank_clock_fit(&one, 1, &c);
	assert_int_equal(c.rounds, 1);
	assert_true(c.offset_ns == 4000 && c.drift == 0);
	assert_true(c.round_trip_ns == 1000 && c.within_ns == 500);
	assert_int_equal(rank_clock_map(&c, 7000), 11000);
}

int test_rank_clock(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(offset_and_drift_are_found),
	    cmocka_unit_test(without_exchanges_nothing_is_claimed),
	    cmocka_unit_test(one_exchange_gives_an_offset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
