/* test_history_series.c - all series of a history: alarms, and two commits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history_test.h"
#include <math.h>

#define A40 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B40 "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

/* Of the series of twelve machines one changed. */
static void alarms(void **state)
{
	dck_history *h = history_here();
	dck_history_trend_config c;
	dck_history_alarms *a;
	char id[32];
	dck_err err;

	(void)state;
	dck_history_trend_config_init(&c);
	assert_int_equal(dck_history_alarms_get(h, NULL, &c, &a, &err), DCK_E_ABSENT);
	for (int i = 0; i < 40; i++)
		for (int k = 0; k < 12; k++) {
			const char cpu[] = {'c', (char)('a' + k), '\0'};
			const made m = {.id = id,
					.began = BEGAN + i * DAY,
					.median = (k == 7 && i >= 28 ? 110 : 100) +
						  (i * 5 + k * 7) % 13 / 10.0,
					.seed = 1,
					.version = "1",
					.cpu = cpu};

			snprintf(id, sizeof id, "r%d-%d", k, i);
			add_made(h, &m, i < 28 ? A40 : NULL, NULL);
		}
	assert_int_equal(dck_history_alarms_get(h, NULL, &c, &a, &err), DCK_OK);
	assert_int_equal(a->series, 12);
	assert_int_equal(a->changed, 1);
	assert_int_equal(a->n, 1);
	assert_string_equal(a->alarms[0].cpu, "ch");
	assert_string_equal(a->alarms[0].id, "r7-28");
	assert_null(a->alarms[0].commit);
	assert_string_equal(a->alarms[0].metric.tag, "latency/median");
	assert_true(a->alarms[0].points == 40 && a->alarms[0].others == 0);
	assert_true(a->alarms[0].q <= a->rate && a->alarms[0].p <= a->alarms[0].q);
	assert_true(fabs(a->alarms[0].before - 100.6) < 0.2 &&
		    fabs(a->alarms[0].after - 110.6) < 0.2);
	dck_history_alarms_free(a);
	/* The first 28 records are of one commit. */
	c.by = DCK_HISTORY_BY_COMMIT;
	assert_int_equal(dck_history_alarms_get(h, NULL, &c, &a, &err), DCK_OK);
	assert_true(a->series == 12 && a->n == 0);
	dck_history_alarms_free(a);
	c.mixed = true;
	assert_int_equal(dck_history_alarms_get(h, NULL, &c, &a, &err), DCK_E_ARG);
	dck_history_alarms_free(NULL);
	dck_history_close(h);
}

/* Against SciPy's Welch test of the logarithms. */
static void commits(void **state)
{
	static const double values[] = {100, 102, 104, 110, 111, 115, 119};
	dck_history *h = history_here();
	dck_history_commits *c;
	dck_err err;

	(void)state;
	for (int i = 0; i < 7; i++)
		add_number(h, i, values[i], i < 3 ? A40 : B40, NULL);
	assert_int_equal(dck_history_commits_get(h, NULL, NULL, "aaaa", "b", &c, &err), DCK_OK);
	assert_true(c->n == 1 && c->tested == 1 && c->changed == 1 && c->worse == 1);
	const dck_history_pair *p = &c->pairs[0];
	assert_true(p->records[0] == 3 && p->records[1] == 4 && p->machines == 1);
	assert_true(fabs(p->ratio - 1.1147965415776542) < 1e-12);
	assert_true(fabs(p->lo - 1.0545681637590156) < 1e-9);
	assert_true(fabs(p->hi - 1.1784646757053912) < 1e-9);
	assert_true(fabs(p->p - 0.004342468934033447) < 1e-9 && p->q == p->p);
	dck_history_commits_free(c);
	assert_int_equal(dck_history_commits_get(h, NULL, NULL, "c", "b", &c, &err), DCK_OK);
	assert_true(c->n == 0 && c->one_only == 1);
	dck_history_commits_free(c);
	assert_int_equal(dck_history_commits_get(h, NULL, "nothing", "a", "b", &c, &err),
			 DCK_E_ABSENT);
	assert_int_equal(dck_history_commits_get(h, NULL, NULL, "b", "bb", &c, &err), DCK_E_ARG);
	dck_history_commits_free(NULL);
	dck_history_close(h);
}

int test_history_series(void);
int test_history_series(void)
{
	const struct CMUnitTest tests[] = {SCRATCH_TEST(alarms), SCRATCH_TEST(commits)};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
