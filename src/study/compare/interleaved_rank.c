/* interleaved_rank.c - several subjects without a baseline: ranked by their time, each with its
 * ratio to the fastest.
 *
 * The fastest is known only after the rounds, so its ratios have the level over all pairs
 * (interleaved_look.c). A subject whose interval holds 1 is a tie and shares the first rank; the
 * answer names ties before the slower ones. Names are joined in an arena for the call.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/compare/interleaved.h"
#include "base/mem.h"
#include "base/sink.h"
#include <math.h>

void interleaved_names_text(const dck_alternative *all, size_t n, size_t from, char *buf,
			    size_t size)
{
	*buf = '\0';
	for (size_t i = 0; i < n; i++)
		text_add(buf, size, "%s%s", i > 0 ? ", " : "", all[i].name + from);
}

void interleaved_rank_facts(record_builder *b, const dck_alternative *all, size_t n)
{
	char text[1024];

	interleaved_names_text(all, n, 0, text, sizeof text);
	record_fact_text(b, "subject", "kind", "several");
	record_fact_text(b, "subject", "name", text);
}

/* --- results */

/* A tie: the interval of its ratio to the fastest holds 1, so no difference is shown. */
static bool is_tie(const interleaved_rounds *r, size_t i)
{
	const interleaved_result *x = &r->results[i];

	return i != r->fastest && x->has_interval && !(x->lo > 0);
}

static void rank_order_make(const interleaved_rounds *r, size_t order[DCK_ALTERNATIVES_MAX])
{
	for (size_t i = 0; i < r->n; i++) {
		size_t at = i;

		while (at > 0 && r->results[order[at - 1]].time_ns > r->results[i].time_ns) {
			order[at] = order[at - 1];
			at--;
		}
		order[at] = i;
	}
	/* The fastest, the base of the ratios, comes first; the order of the others stays. */
	for (size_t at = r->n; at-- > 1;)
		if (order[at] == r->fastest) {
			order[at] = order[at - 1];
			order[at - 1] = r->fastest;
		}
}

static void cell_time(record_builder *b, const interleaved *v, const interleaved_result *x,
		      double *scratch)
{
	stat_estimate e;

	stat_estimate_one(STAT_MEDIAN, x->trial_ns, x->rounds, v->asked->level, scratch, &e);
	record_cell_interval(b, x->time_ns, e.lo, e.hi, e.has_interval ? v->asked->level : 0);
}

static void extremes(const interleaved_result *x, double *ret_min, double *ret_max)
{
	*ret_min = *ret_max = x->trial_ns[0];
	for (size_t k = 1; k < x->rounds; k++) {
		*ret_min = fmin(*ret_min, x->trial_ns[k]);
		*ret_max = fmax(*ret_max, x->trial_ns[k]);
	}
}

static void ranking_row(record_builder *b, const interleaved *v, const interleaved_rounds *r,
			size_t i, size_t place, double *scratch)
{
	const interleaved_result *x = &r->results[i];
	double min, max;

	extremes(x, &min, &max);
	record_cell_text(b, interleaved_label(r, i));
	record_cell_int(b, is_tie(r, i) ? 1 : (int64_t)place);
	cell_time(b, v, x, scratch);
	record_cell_real(b, min);
	record_cell_real(b, max);
	if (i == r->fastest)
		record_cell_real(b, 1);
	else
		record_cell_interval(b, exp(x->median), exp(x->lo), exp(x->hi),
				     x->has_interval ? v->asked->level : 0);
	record_cell_text(b, i == r->fastest    ? "fastest"
			    : !x->has_interval ? "too few rounds"
			    : is_tie(r, i)     ? "no difference shown"
					       : "slower");
}

static bool ranking(record_builder *b, const interleaved *v, const interleaved_rounds *r,
		    const size_t *order)
{
	const dck_column columns[] = {
	    {"subject", "subject", DCK_UNIT_NONE},
	    {"rank", "rank", DCK_UNIT_ONE},
	    {"time", r->per_item ? "median of an item" : "median", DCK_UNIT_NS},
	    {"min", "min", DCK_UNIT_NS},
	    {"max", "max", DCK_UNIT_NS},
	    {"ratio", VERSUS_RATIO_TITLE, DCK_UNIT_ONE},
	    {"verdict", "verdict", DCK_UNIT_NONE},
	};
	double *scratch = mem_zalloc(stat_scratch(r->done), sizeof *scratch);

	if (!scratch)
		return false;
	RECORD_TABLE(b, "bench/ranking", "Ranking, trials interleaved", columns);
	record_summary_columns(b,
			       "time ratio verdict"); /* the rows are in the order of the ranks */
	for (size_t place = 0; place < r->n; place++)
		ranking_row(b, v, r, order[place], place + 1, scratch);
	mem_free(scratch);
	return true;
}

/* "a is the fastest; b takes 1.31 times as long [1.28, 1.33], c 2 times [1.9, 2.1]"; "a has the
 * lowest median, but b is not shown to be slower: 1.13 times [0.99, 1.32]; ..." */
static void rank_answer(record_builder *b, const interleaved_rounds *r, const size_t *order)
{
	mem_arena *a = mem_arena_new(0);
	const char *first = interleaved_label(r, r->fastest), *ties = "", *slower = "";
	const char *what = r->per_item ? "items per second: " : "",
		   *where = interleaved_where(&r->place);
	size_t bare = 0;

	for (size_t i = 0; i < r->n; i++)
		bare += i != r->fastest && !r->results[i].has_interval;
	for (size_t place = 1; a && ties && slower && place < r->n; place++) {
		const interleaved_result *x = &r->results[order[place]];
		const char *name = interleaved_label(r, order[place]);
		const int digits = verdict_decimals(exp(x->lo), exp(x->hi));

		if (is_tie(r, order[place]))
			ties = mem_arena_fmt(
			    a,
			    *ties ? "%s, %s %.*f times [%.*f, %.*f]"
				  : "%s%s is not shown to be slower: %.*f times [%.*f, %.*f]",
			    ties, name, digits, exp(x->median), digits, exp(x->lo), digits,
			    exp(x->hi));
		else
			slower =
			    mem_arena_fmt(a,
					  *slower ? "%s, %s %.*f times [%.*f, %.*f]"
						  : "%s; %s takes %.*f times as long [%.*f, %.*f]",
					  slower, name, digits, exp(x->median), digits, exp(x->lo),
					  digits, exp(x->hi));
	}
	if (bare > 0)
		record_answer(
		    b, "%s%s has the lowest median; %zu round%s too few to rank %zu subjects", what,
		    first, r->done, r->done == 1 ? " is" : "s are", r->n);
	else if (a && ties && slower && *ties)
		record_answer(b, "%s%s has the lowest median, but %s%s%s", what, first, ties,
			      slower, where);
	else if (a && ties && slower)
		record_answer(b, "%s%s is the fastest%s%s", what, first, slower, where);
	mem_arena_free(a);
}

static void rank_imprecise(record_builder *b, const interleaved_rounds *r)
{
	size_t wide = 0;

	for (size_t i = 0; i < r->n; i++)
		wide += i != r->fastest &&
			!(r->results[i].has_interval &&
			  (r->results[i].hi - r->results[i].lo) / 2 <= log1p(r->margin));
	if (wide > 0 && r->failed == DCK_OK) {
		record_note(b, "imprecise",
			    "%zu of %zu ratios are known less precisely than --precision %.3g %%",
			    wide, r->n - 1, 100 * r->margin);
		record_remedy(b, "give more --max-time");
	}
}

void interleaved_rank_record(record_builder *b, interleaved *v, const interleaved_rounds *r)
{
	size_t order[DCK_ALTERNATIVES_MAX] = {0};

	interleaved_facts_options(b, r);
	interleaved_facts_method(b, v, &r->place, r);
	rank_order_make(r, order);
	if (!ranking(b, v, r, order))
		record_note_as(b, DCK_ERROR, "no-series",
			       "there was no memory left for the ranking");
	rank_answer(b, r, order);
	interleaved_series(b, r);
	if (v->asked->rounds == 0)
		rank_imprecise(b, r);
	interleaved_notes(b, v, r);
}
