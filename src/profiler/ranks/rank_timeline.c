/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ranks/rank_timeline.h"

#include "base/err.h"

#include <math.h>

/* Writes the step with the longest waits, and the one nearest to the median; returns their number.
 */
static size_t steps_choose(const rank_job *j, double *scratch, size_t ret[TIMELINE_STEPS])
{
	const double *waits = j->costs.step_wait;

	ret[0] = 0;
	for (size_t k = 0; k < j->steps; k++)
		if (waits[k] > waits[ret[0]])
			ret[0] = k;
	const double median = stat_median(waits, j->steps, scratch);
	ret[1] = ret[0] ? 0 : 1;
	for (size_t k = 0; k < j->steps; k++)
		if (k != ret[0] && fabs(waits[k] - median) < fabs(waits[ret[1]] - median))
			ret[1] = k;
	return j->steps > 1 ? TIMELINE_STEPS : 1;
}

/* Returns whether a member is shown: the one that costs most, and the others evenly. */
static bool member_is_shown(const rank_job *j, size_t at)
{
	const size_t others = TIMELINE_RANKS - 1;

	return j->n <= TIMELINE_RANKS || at == j->blame.unit ||
	       (at * others / j->n != (at + 1) * others / j->n);
}

/* Finds a step of a member, by its number among those that it recorded: *ret_begin to *ret_until,
 * where the next one begins, and the index of its first range. */
static size_t step_find(const rank_range *r, size_t n, size_t number, int64_t *ret_begin,
			int64_t *ret_until)
{
	size_t found = n;

	*ret_until = INT64_MAX;
	for (size_t i = 0, k = 0; i < n && *ret_until == INT64_MAX; i++) {
		if (r[i].kind != RANK_STEP)
			continue;
		if (k == number) {
			found = i;
			*ret_begin = r[i].begin_ns;
		} else if (k == number + 1) {
			*ret_until = r[i].begin_ns;
		}
		k++;
	}
	return found;
}

/* Appends the ranges of a member in a step. */
static void member_spans_add(const rank_job *j, size_t at, size_t step, const rank_range *ranges,
			     rank_timeline *t)
{
	const rank_member *m = &j->member[at];
	const rank_part *p = m->part;
	int64_t begin, until;
	size_t i = step_find(ranges, p->nranges, j->skipped + step, &begin, &until), n = 0;

	if (i == p->nranges)
		return;
	if (until == INT64_MAX)
		until = ranges[i].end_ns;
	/* Ranges are in the order of their begins, of equal ones the step's is first. */
	for (; i < p->nranges && ranges[i].begin_ns < until; i++) {
		const rank_range *r = &ranges[i];

		if (n++ >= TIMELINE_RANGES) {
			t->spans_left_out++;
			continue;
		}
		t->span[t->n++] = (rank_span){at,
					      step,
					      (rank_kind)r->kind,
					      p->names[r->name],
					      rank_member_time(m, r->begin_ns),
					      rank_member_time(m, r->end_ns)};
	}
}

/* Makes the times of the spans from `first` on relative to the first begin. */
static void spans_shift(rank_timeline *t, size_t first)
{
	int64_t base = INT64_MAX;

	for (size_t i = first; i < t->n; i++)
		base = t->span[i].begin_ns < base ? t->span[i].begin_ns : base;
	for (size_t i = first; i < t->n; i++) {
		t->span[i].begin_ns -= base;
		t->span[i].end_ns -= base;
	}
}

/* Appends the ranges of all members that are shown in a step. */
static dck_status step_spans_add(const rank_job *j, size_t step, rank_timeline *t, dck_err *err)
{
	rank_buffer buffer = {0};
	const rank_range *ranges;
	dck_status status = DCK_OK;

	t->ranks_left_out = 0;
	for (size_t at = 0; at < j->n && status == DCK_OK; at++) {
		if (!member_is_shown(j, at)) {
			t->ranks_left_out++;
			continue;
		}
		status = rank_part_ranges(j->member[at].part, &buffer, &ranges, err);
		if (status == DCK_OK)
			member_spans_add(j, at, step, ranges, t);
	}
	rank_buffer_done(&buffer);
	return status;
}

dck_status rank_timeline_make(const rank_job *j, rank_timeline *ret, dck_err *err)
{
	const size_t ranks = j->n < TIMELINE_RANKS ? j->n : TIMELINE_RANKS;
	size_t steps[TIMELINE_STEPS];
	rank_timeline t = {0};

	*ret = t;
	if (!j->costs.collectives || j->steps == 0)
		return DCK_OK;
	double *scratch = mem_arena_array(j->arena, j->steps, sizeof *scratch);
	t.span = mem_arena_array(j->arena, TIMELINE_STEPS * (ranks + 1),
				 TIMELINE_RANGES * sizeof *t.span);
	DCK_NEED(scratch && t.span, err, "for the timeline of a step");
	const size_t n = steps_choose(j, scratch, steps);
	for (size_t k = 0; k < n; k++) {
		const size_t first = t.n;

		DCK_TRY(step_spans_add(j, steps[k], &t, err));
		spans_shift(&t, first);
	}
	*ret = t;
	return DCK_OK;
}
