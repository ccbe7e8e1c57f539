/* interleaved_look.c - an interim look at the completed rounds: verdicts, and precision of the
 * ratios.
 *
 * The error that a verdict may have is spent over the looks that were planned before the first
 * round, and shared by the alternatives: Holm's procedure against a baseline, Bonferroni's over all
 * pairs of a ranking, where the fastest is known only afterwards.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/compare/interleaved_look.h"
#include "base/err.h"
#include "base/mem.h"
#include <math.h>

/* With too few rounds even ratios all on one side are not significant: by chance that occurs more
 * often than the alpha of one pair and one side. */
size_t interleaved_look_least(size_t n, double level)
{
	const double pairs = (double)(n * (n - 1)) / 2;

	return (size_t)ceil(log2(2 * pairs / (1 - level)) - 1e-9);
}

/* Finds the interval of the median ratio of all completed rounds. m: number of tests that share
 * alpha.
 */
static void look_interval_find(const interleaved_looks *f, size_t m, interleaved_result *x)
{
	const double slack = stat_boundary_slack(&f->of[m - 1]);
	stat_paired p;

	stat_paired_median(x->ratio, x->rounds, f->rank[m - 1], f->scratch, &p);
	x->judged = x->rounds;
	x->has_interval = p.has_interval;
	x->median = p.median;
	x->lo = p.lo - slack;
	x->hi = p.hi + slack;
	x->tau = p.tau;
}

static size_t over_fastest(const interleaved_looks *f, interleaved_rounds *r)
{
	const double *fastest = r->results[r->fastest].trial_ns;
	size_t wide = 0;

	for (size_t i = 0; i < r->n; i++) {
		interleaved_result *x = &r->results[i];

		if (i == r->fastest)
			continue;
		for (size_t k = 0; k < r->done; k++)
			x->ratio[k] = log(x->trial_ns[k] / fastest[k]);
		look_interval_find(f, 1, x);
		wide += !x->has_interval || (x->hi - x->lo) / 2 > log1p(r->margin);
	}
	return wide;
}

static size_t rank_look(const interleaved_looks *f, interleaved_rounds *r)
{
	size_t wide = 0;

	for (size_t i = 0; i < r->n; i++)
		r->results[i].time_ns = stat_median(r->results[i].trial_ns, r->done, f->scratch);
	for (size_t i = 0; i < r->n; i++)
		if (r->results[i].time_ns < r->results[r->fastest].time_ns)
			r->fastest = i;
	/* Under drift the pairs may know better than the medians which one it is. */
	for (size_t tries = 0; tries < r->n; tries++) {
		size_t better = r->fastest;

		wide = over_fastest(f, r);
		for (size_t i = 0; i < r->n; i++)
			if (i != r->fastest && r->results[i].has_interval && r->results[i].hi < 0)
				better = i;
		if (better == r->fastest)
			break;
		r->fastest = better;
	}
	return wide;
}

dck_status interleaved_looks_init(interleaved_looks *f, const interleaved *v,
				  const interleaved_rounds *r, dck_err *err)
{
	const size_t row = r->planned + 2;
	/* The fastest is known only afterwards: a ranking's intervals hold for all pairs. */
	const size_t pairs = r->n * (r->n - 1) / 2;

	f->n = v->asked->ranking ? 1 : r->n - 1;
	f->walks = mem_zalloc(f->n * row, sizeof(double));
	f->scratch = mem_zalloc(stat_scratch(r->planned) + r->planned + r->blocks, sizeof(double));
	DCK_NEED(f->walks && f->scratch, err, "for the boundaries of %zu rounds", r->planned);
	for (size_t m = 1; m <= f->n; m++)
		stat_boundary_init(&f->of[m - 1],
				   (1 - v->asked->level) / 2 /
				       (double)(v->asked->ranking ? pairs : m),
				   r->planned, f->walks + (m - 1) * row);
	return DCK_OK;
}

void interleaved_looks_done(interleaved_looks *f)
{
	mem_free(f->walks);
	mem_free(f->scratch);
}

static void look_judge(const interleaved_looks *f, interleaved_result *x, size_t undecided,
		       double margin, double noise)
{
	look_interval_find(f, undecided, x);
	x->verdict = VERDICT_UNDECIDED;
	x->gate = DCK_VERDICT_INCONCLUSIVE;
	if (!x->has_interval)
		return;
	x->verdict = verdict_of(exp(x->lo), exp(x->hi), margin);
	x->gate = stat_limit_interval(exp(x->lo), exp(x->hi), 1 + margin);
	/* The A/A noise raises the bound of a difference, never that of equality. */
	if (x->verdict == VERDICT_SAME || verdict_of(exp(x->lo), exp(x->hi), noise) == x->verdict)
		return;
	x->verdict = VERDICT_UNDECIDED;
	if (x->gate == DCK_VERDICT_VIOLATED)
		x->gate = DCK_VERDICT_INCONCLUSIVE;
}

/* Tests all undecided candidates; returns how many stay undecided. */
size_t interleaved_look(const interleaved *v, interleaved_looks *f, interleaved_rounds *r)
{
	size_t undecided = 0, before;

	for (size_t m = 0; m < f->n; m++) {
		/* Stopping by time does not depend on the ratios, so the remaining alpha is spent.
		 */
		if (r->stopped)
			stat_boundary_last(&f->of[m], r->done);
		f->rank[m] = stat_boundary_look(&f->of[m], r->done);
	}
	if (v->asked->ranking) {
		r->looks++;
		return rank_look(f, r);
	}
	for (size_t i = 1; i < r->n; i++)
		undecided += r->results[i].verdict == VERDICT_UNDECIDED;
	do {
		before = undecided;
		for (size_t i = 1; i < r->n; i++) {
			if (r->results[i].verdict != VERDICT_UNDECIDED)
				continue;
			look_judge(f, &r->results[i], before, r->margin, fmax(r->margin, r->floor));
			undecided -= r->results[i].verdict != VERDICT_UNDECIDED;
		}
	} while (undecided > 0 && undecided < before);
	r->looks++;
	return undecided;
}
