/* saved_scaling.c - scaling efficiency of jobs of different sizes, by the times of their steps.
 *
 * With N0 ranks and step time T0 of the baseline, N and T of another job: weak scaling, where each
 * rank has the same work, is T0 / T (Gustafson, CACM 31, 1988); strong scaling, where all ranks
 * together have the same work, is T0 N0 / (T N) (Amdahl, AFIPS 30, 1967). Both are the inverse of
 * the comparison's ratio, so verdicts, intervals and Holm's procedure are the comparison's.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/compare/saved.h"
#include "base/err.h"
#include "base/units.h"
#include "base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { SCALING_NONE, SCALING_WEAK, SCALING_STRONG };

static const dck_column scaling_columns[] = {
    {"job", "job", DCK_UNIT_NONE},
    {"ranks", "ranks", DCK_UNIT_ONE},
    {"step", "step", DCK_UNIT_NS},
    {"speedup", "speedup", DCK_UNIT_ONE},
    {"efficiency", "efficiency", DCK_UNIT_ONE},
};

int64_t saved_ranks(const dck_record *r)
{
	const int64_t ranks = record_get_int(r, "job", "ranks");

	return ranks > 0 ? ranks : 0;
}

dck_status saved_scaling_check(const saved_comparison *c, dck_err *err)
{
	if (c->asked->scaling == SCALING_NONE)
		return DCK_OK;
	for (size_t i = 0; i < c->n; i++)
		if (!saved_ranks(c->sides[i].record))
			DCK_FAIL(err, E_ARG,
				 "'%.60s' is not the record of a job, so it has no scaling: "
				 "compare records of 'deepclock ranks'",
				 c->sides[i].name);
	for (size_t i = 1; i < c->n; i++)
		if (saved_ranks(c->sides[i].record) == saved_ranks(c->sides[0].record))
			DCK_FAIL(err, E_ARG,
				 "'%.60s' and '%.60s' are jobs of %" PRId64
				 " ranks: scaling needs jobs of different sizes",
				 c->sides[0].name, c->sides[i].name,
				 saved_ranks(c->sides[0].record));
	return DCK_OK;
}

void saved_scaling_ratio(const saved_comparison *c, saved_side *s)
{
	if (c->asked->scaling != SCALING_STRONG || !s->ratio.known)
		return;
	const double sizes =
	    (double)saved_ranks(s->record) / (double)saved_ranks(c->sides[0].record);

	s->ratio.value *= sizes;
	s->ratio.lo *= sizes;
	s->ratio.hi *= sizes;
}

static void quotient_cell_put(record_builder *b, const saved_side *s, double over)
{
	const saved_ratio *r = &s->ratio;
	const dck_cell cell =
	    r->known ? verdict_cell(over / r->value, over / r->hi, over / r->lo, s->level)
		     : verdict_cell_absent(r->why);

	verdict_cell_put(b, &cell);
}

static void scaling_row_put(const saved_comparison *c, const saved_side *s)
{
	const dck_cell step = saved_value_cell(&s->value, s->level);
	const int64_t ranks = saved_ranks(s->record);

	record_cell_text(c->b, s->name);
	record_cell_int(c->b, ranks);
	verdict_cell_put(c->b, &step);
	if (s == c->sides) {
		record_cell_int(c->b, 1);
		record_cell_int(c->b, 1);
		return;
	}
	/* Work per time, of the baseline's. */
	quotient_cell_put(c->b, s, (double)ranks / (double)saved_ranks(c->sides[0].record));
	quotient_cell_put(c->b, s, 1);
}

bool saved_scaling_put(const saved_comparison *c)
{
	const int which = c->asked->scaling;
	const saved_side *base = c->sides, *most = &c->sides[1];
	char interval[64] = "";

	if (which == SCALING_NONE)
		return false;
	for (size_t i = 2; i < c->n; i++)
		if (saved_ranks(c->sides[i].record) > saved_ranks(most->record))
			most = &c->sides[i];
	const saved_ratio *r = &most->ratio;
	record_fact_text(c->b, "compare", "scaling", dck_compare_scalings[which]);
	record_fact_text(c->b, "method", "scaling",
			 which == SCALING_WEAK
			     ? "step time of the baseline over that of the other job"
			     : "step time times ranks of the baseline over those of the other job");
	if (r->known && !isnan(r->lo))
		mem_print(interval, sizeof interval, " [%.3g %%, %.3g %%]", 100 / r->hi,
			  100 / r->lo);
	if (r->known)
		record_answer(c->b,
			      "%s scaling from %" PRId64 " to %" PRId64
			      " ranks has an efficiency of %.3g %%%s: a step takes %s with %" PRId64
			      ", %s with %" PRId64,
			      dck_compare_scalings[which], saved_ranks(base->record),
			      saved_ranks(most->record), 100 / r->value, interval,
			      UNITS_TIME(base->value.value), saved_ranks(base->record),
			      UNITS_TIME(most->value.value), saved_ranks(most->record));
	else
		record_answer(c->b, "no efficiency is known: %s", r->why);
	RECORD_TABLE(c->b, "compare/scaling", "Scaling", scaling_columns);
	for (size_t i = 0; i < c->n; i++)
		scaling_row_put(c, &c->sides[i]);
	return true;
}
