/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/op_ranges.h"
#include "base/err.h"
#include <stdlib.h>

#define TIME_MAX ((uint64_t)INT64_MAX / 4)

/* --- the clocks */

/* Bounds of our clock's time at the engine's 0: at least, at most. */
typedef struct bounds {
	int64_t least, most;
} bounds;

static bounds bounds_of(const dck_profile *p, const op_runs *runs, size_t i)
{
	const int64_t begin = (int64_t)p->run_begin_ns[i], took = (int64_t)p->run_ns[i];
	bounds b = {.least = (int64_t)runs->begin_ns[i] - begin,
		    .most = (int64_t)runs->end_ns[i] - begin - took};

	/* A run that is longer by the engine's clock begins where ours does. */
	if (b.most < b.least)
		b.most = b.least;
	return b;
}

static bounds bounds_all(const dck_profile *p, const op_runs *runs)
{
	bounds all = {.least = INT64_MIN, .most = INT64_MAX};

	for (size_t i = 0; i < p->nruns; i++) {
		const bounds b = bounds_of(p, runs, i);
		if (b.least > all.least)
			all.least = b.least;
		if (b.most < all.most)
			all.most = b.most;
	}
	return all;
}

static int64_t ranges_middle(bounds b)
{
	return b.least + (b.most - b.least) / 2;
}

/* Returns the offset of run i, given the offset of the previous run. */
static int64_t shift_of(const dck_profile *p, const op_runs *runs, size_t i, bounds all,
			int64_t before)
{
	if (all.least <= all.most)
		return ranges_middle(all);
	const bounds b = bounds_of(p, runs, i);
	if (i == 0)
		return ranges_middle(b);
	return before < b.least ? b.least : before > b.most ? b.most : before;
}

static uint64_t unsure(const dck_profile *p, const op_runs *runs, bounds all)
{
	uint64_t widest = (uint64_t)(all.most - all.least);

	if (all.least > all.most) {
		widest = 0;
		for (size_t i = runs->from; i < runs->to; i++) {
			const bounds b = bounds_of(p, runs, i);
			if ((uint64_t)(b.most - b.least) > widest)
				widest = (uint64_t)(b.most - b.least);
		}
	}
	return widest / 2 + p->resolution_ns;
}

/* --- placing */

static bool can_be(uint64_t begin_ns, uint64_t duration_ns)
{
	return begin_ns <= TIME_MAX && duration_ns <= TIME_MAX;
}

static bool times_can_be(const dck_profile *p)
{
	for (size_t i = 0; i < p->nruns; i++)
		if (!can_be(p->run_begin_ns[i], p->run_ns[i]))
			return false;
	for (size_t i = 0; i < p->nevents; i++)
		if (!can_be(p->events[i].begin_ns, p->events[i].duration_ns))
			return false;
	return p->resolution_ns <= TIME_MAX;
}

static uint64_t ranges_clamp(int64_t ns, uint64_t least, uint64_t most)
{
	return ns < (int64_t)least ? least : ns > (int64_t)most ? most : (uint64_t)ns;
}

#define OWN INT64_MIN /* sorts before all threads */

/* Each inside its run, in the order of the profile; how many. */
static size_t in_runs(const dck_profile *p, const op_runs *runs, bounds all, int64_t own_thread,
		      op_range *ret)
{
	int64_t shift = 0;
	size_t n = 0, at = 0;

	for (size_t i = 0; i < runs->to; i++) {
		shift = shift_of(p, runs, i, all, shift);
		for (; at < p->nevents && p->events[at].run == i; at++) {
			const dck_op_event *e = &p->events[at];
			const int64_t begin = (int64_t)e->begin_ns + shift;
			const int64_t end = begin + (int64_t)e->duration_ns;
			const bool own = !p->threads || p->threads[at] == own_thread;

			if (i < runs->from)
				continue;
			ret[n++] = (op_range){
			    .event = at,
			    .begin_ns = ranges_clamp(begin, runs->begin_ns[i], runs->end_ns[i]),
			    .end_ns = ranges_clamp(end, runs->begin_ns[i], runs->end_ns[i]),
			    .thread = own ? OWN : p->threads[at]};
		}
	}
	return n;
}

static int ranges_by_thread(const void *a, const void *b)
{
	const op_range *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

/* Nests the ranges of one thread: clips each to its enclosing operator (by depth) and to start
 * after its previous sibling. */
static void ranges_nest(const dck_profile *p, op_range *r, size_t n)
{
	op_range *open[OP_LEVELS_MAX];
	size_t nopen = 0;
	uint64_t last = 0; /* end of the last closed range in the innermost open range */

	for (size_t i = 0; i < n; i++) {
		const dck_op_event *e = &p->events[r[i].event];

		while (nopen > 0) {
			const dck_op_event *around = &p->events[open[nopen - 1]->event];
			if (around->run == e->run && around->depth < e->depth &&
			    open[nopen - 1]->end_ns + p->resolution_ns >= r[i].begin_ns &&
			    nopen < OP_LEVELS_MAX)
				break;
			last = open[--nopen]->end_ns;
		}
		const uint64_t most = nopen > 0 ? open[nopen - 1]->end_ns : UINT64_MAX;
		if (r[i].begin_ns < last)
			r[i].begin_ns = last;
		if (r[i].begin_ns > most)
			r[i].begin_ns = most;
		if (r[i].end_ns > most)
			r[i].end_ns = most;
		if (r[i].end_ns < r[i].begin_ns)
			r[i].end_ns = r[i].begin_ns;
		r[i].level = (uint32_t)nopen;
		open[nopen++] = &r[i];
		last = r[i].begin_ns;
	}
}

dck_status op_ranges_align(const dck_profile *p, const op_runs *runs, int64_t own_thread,
			   op_range *ret, size_t *ret_n, uint64_t *ret_unsure_ns, dck_err *err)
{
	if (!times_can_be(p))
		DCK_FAIL(err, E_ENGINE, "the engine's profile has times that cannot be");
	const bounds all = bounds_all(p, runs);
	const size_t n = in_runs(p, runs, all, own_thread, ret);
	qsort(ret, n, sizeof *ret, ranges_by_thread);
	for (size_t i = 0, j = 0; i < n; i = j) {
		while (j < n && ret[j].thread == ret[i].thread)
			j++;
		ranges_nest(p, ret + i, j - i);
	}
	for (size_t i = 0; i < n && ret[i].thread == OWN; i++)
		ret[i].thread = own_thread;
	*ret_n = n;
	*ret_unsure_ns = unsure(p, runs, all);
	return DCK_OK;
}
