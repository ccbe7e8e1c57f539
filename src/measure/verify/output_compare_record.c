/* output_compare_record.c - writes comparisons of outputs into a record: table, metrics, facts,
 * notes, answer.
 *
 * The table has a row for each output of each comparison. The metrics are maxima over all of them
 * (worst_of()), each with the name of the output that has it; NaN means that an output has no value
 * and is ignored. Counts of elements are totals. The verdict is the worst one.
 *
 * Missing values are absent with the reason: a difference without finite elements, a relative error
 * where the reference is 0, ULP between different types. Equal outputs of one constant, or of
 * nearly only NaN, get the note outputs-degenerate, because their equality shows little. An
 * interrupted comparison makes the record incomplete.
 *
 * All texts are copied by the builder.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/verify/output_compare.h"
#include "base/mem.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const dck_column columns[] = {
    {.key = "output", .title = "output"},
    {.key = "verdict", .title = "verdict"},
    {.key = "max_abs", .title = "max abs", .unit = DCK_UNIT_ONE},
    {.key = "max_rel", .title = "max rel", .unit = DCK_UNIT_ONE},
    {.key = "mean_abs", .title = "mean abs", .unit = DCK_UNIT_ONE},
    {.key = "cosine_gap", .title = "1 - cos", .unit = DCK_UNIT_ONE},
    {.key = "max_ulp", .title = "max ULP", .unit = DCK_UNIT_ONE},
    {.key = "nonfinite", .title = "NaN, Inf", .unit = DCK_UNIT_ONE},
    {.key = "outside", .title = "outside", .unit = DCK_UNIT_ONE},
    {.key = "mean_rel", .title = "mean rel", .unit = DCK_UNIT_ONE},
    {.key = "type", .title = "type"},
};
#define NCOLUMNS (sizeof columns / sizeof columns[0])

static void real_or(record_builder *b, double v, const char *why)
{
	record_cell(b, isfinite(v) ? RECORD_REAL(v) : RECORD_ABSENT(why));
}

static int64_t compared_whole(uint64_t n)
{
	return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

/* Returns the count of NaN and Inf in the tensor that has more of them. */
static uint64_t nonfinite(const compared_sum *s)
{
	const uint64_t a = s->nan_a + s->inf_a, b = s->nan_b + s->inf_b;

	return a > b ? a : b;
}

static void compared_row_put(record_builder *b, const compared *x, const compared_output *o,
			     bool labelled)
{
	const compared_sum *s = &o->sum;

	if (labelled && x->label)
		record_cell_fmt(b, "%s: %s", x->label, o->name);
	else
		record_cell_text(b, o->name);
	record_cell_text(b, compared_verdict_text[o->verdict]);
	if (!o->compared) {
		for (size_t i = 2; i < NCOLUMNS; i++)
			record_cell_absent(b, o->why ? o->why : "not compared");
		return;
	}
	const char *empty = "no element is finite in both";
	real_or(b, s->finite > 0 ? s->max_abs : NAN, empty);
	real_or(b, s->finite > s->zeros ? s->max_rel : NAN, "no element of the reference but 0");
	real_or(b, compared_mean_abs(s), empty);
	real_or(b, compared_cosine_gap(s), "one of them is all zeros");
	record_cell(b, s->has_ulp ? RECORD_INT(compared_whole(s->max_ulp))
				  : RECORD_ABSENT("not of one floating type"));
	record_cell_int(b, compared_whole(nonfinite(s)));
	record_cell_int(b, compared_whole(s->outside));
	real_or(b, compared_mean_rel(s), "no element of the reference but 0");
	record_cell_text(b, o->dtypes);
}

/* --- the worst of all outputs */

typedef struct worst {
	compared_verdict verdict;
	const compared
	    *of; /* whose outputs have it, most elements outside; NULL: all are identical */
	double max_abs, max_rel, mean_abs, mean_rel, gap;
	const char *at[5];
	uint64_t outside, unlike, zeros, n;
} worst;

static void maximum_update(double *to, const char **at, double v, const char *name)
{
	if (isnan(v) || (!isnan(*to) && v <= *to))
		return;
	*to = v;
	*at = name;
}

static void worst_add(worst *w, const compared_output *o)
{
	const compared_sum *s = &o->sum;

	if (!o->compared)
		return;
	maximum_update(&w->max_abs, &w->at[0], s->finite > 0 ? s->max_abs : NAN, o->name);
	maximum_update(&w->max_rel, &w->at[1], s->finite > s->zeros ? s->max_rel : NAN, o->name);
	maximum_update(&w->mean_abs, &w->at[2], compared_mean_abs(s), o->name);
	maximum_update(&w->mean_rel, &w->at[3], compared_mean_rel(s), o->name);
	maximum_update(&w->gap, &w->at[4], compared_cosine_gap(s), o->name);
	w->outside += s->outside;
	w->unlike += s->unlike;
	w->zeros += s->zeros;
	w->n += s->n;
}

static worst worst_of(const compared *list, size_t n)
{
	worst w = {.max_abs = NAN, .max_rel = NAN, .mean_abs = NAN, .mean_rel = NAN, .gap = NAN};
	uint64_t most = 0;

	for (size_t i = 0; i < n; i++) {
		const uint64_t before = w.outside;

		for (size_t k = 0; k < list[i].noutputs; k++)
			worst_add(&w, &list[i].outputs[k]);
		if (list[i].verdict > w.verdict ||
		    (list[i].verdict == w.verdict && w.outside - before > most)) {
			w.verdict = list[i].verdict;
			w.of = &list[i];
			most = w.outside - before;
		}
	}
	return w;
}

static void compared_metric_put(record_builder *b, const char *tag, double v, const char *at,
				const char *more)
{
	char how[300];

	if (isnan(v)) {
		record_metric_absent(b, tag, "no output has a value to compare");
		return;
	}
	snprintf(how, sizeof how, "of the output '%.200s'%s", at, more);
	record_metric_real(b, tag, v, how);
}

static void compared_metrics_put(record_builder *b, const worst *w)
{
	char zeros[80] = "";

	if (w->zeros > 0)
		snprintf(zeros, sizeof zeros, "; %llu of %llu left out: the reference is 0",
			 (unsigned long long)w->zeros, (unsigned long long)w->n);
	compared_metric_put(b, "difference/max_abs", w->max_abs, w->at[0], "");
	compared_metric_put(b, "difference/max_rel", w->max_rel, w->at[1], zeros);
	compared_metric_put(b, "difference/mean_abs", w->mean_abs, w->at[2], "");
	compared_metric_put(b, "difference/mean_rel", w->mean_rel, w->at[3], zeros);
	compared_metric_put(b, "difference/cosine", 1 - w->gap, w->at[4], "");
}

/* Notes outputs whose equality shows little, because they are constant or NaN. */
static void degenerate_put(record_builder *b, const compared *x)
{
	const char *label = x->label ? x->label : "", *by = x->label ? ": " : "", *first = NULL;
	char text[120] = "", one[120], others[48] = "";
	size_t n = 0;

	for (size_t i = 0; i < x->noutputs; i++) {
		const compared_output *o = &x->outputs[i];

		if (o->verdict > AGREE_CLOSE || !o->compared ||
		    !compared_degenerate(&o->sum, one, sizeof one))
			continue;
		if (n++ == 0) {
			first = o->name;
			memcpy(text, one, sizeof text);
		}
	}
	if (n > 1)
		snprintf(others, sizeof others, ", and so of %zu other output%s", n - 1,
			 n == 2 ? "" : "s");
	if (first)
		record_note(b, "outputs-degenerate",
			    "%s%sthat the output '%s' is the same shows little: %s%s", label, by,
			    first, text, others);
}

static void compared_notes_put(record_builder *b, const compared *x)
{
	const char *label = x->label ? x->label : "", *by = x->label ? ": " : "";
	const compared_output *first = NULL;
	char others[48] = "";
	size_t n = 0;

	for (size_t i = 0; i < x->noutputs; i++) {
		const compared_output *o = &x->outputs[i];

		if (o->verdict == AGREE_UNKNOWN)
			record_note(b, "outputs-not-compared",
				    "%s%sthe output '%s' could not be compared: %s", label, by,
				    o->name, o->why);
		if (o->verdict == AGREE_DIFFERENT && n++ == 0)
			first = o;
	}
	if (n > 1)
		snprintf(others, sizeof others, "; and %zu other output(s)", n - 1);
	if (!first)
		return;
	record_note(b, "outputs-differ", "%s%sthe output '%s' differs from the reference: %s%s",
		    label, by, first->name, first->why, others);
	if (x->tf32)
		record_remedy(b, "one of both computes float32 products in TF32, with 10 bits of "
				 "the fraction: --engine-option "
				 "ep.cudaexecutionprovider.use_tf32=0 computes them in FP32");
}

static void tolerances_put(record_builder *b, const compared *x)
{
	char key[160] = "tolerance";

	for (size_t i = 0; i < x->noutputs; i++) {
		const compared_output *o = &x->outputs[i];

		if (!o->compared)
			continue;
		if (x->noutputs > 1)
			snprintf(key, sizeof key, "tolerance/%s", o->name);
		record_fact_fmt(b, "difference", key, "|b - a| <= %.3g + %.3g |a|", o->atol,
				o->rtol);
	}
}

static void compared_interrupted_note(record_builder *b, const compared *x)
{
	record_set_incomplete(b, true);
	record_note(b, "interrupted",
		    "interrupted after %zu of %zu sets of inputs: outputs were compared on those",
		    x->sets, x->asked);
}

compared_verdict compared_record(record_builder *b, const compared *list, size_t n)
{
	const worst w = worst_of(list, n);

	record_table(b, "difference/outputs", "Outputs against the reference", columns, NCOLUMNS);
	/* ULP is not in the summary: it is large for elements near 0. */
	record_summary_columns(b, "verdict max_abs max_rel mean_abs cosine_gap nonfinite outside");
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < list[i].noutputs; k++)
			compared_row_put(b, &list[i], &list[i].outputs[k], n > 1);
	compared_metrics_put(b, &w);
	record_fact_text(b, "difference", "verdict", compared_verdict_text[w.verdict]);
	if (n > 0) {
		record_fact_text(b, "difference", "inputs", list[0].inputs);
		tolerances_put(b, &list[0]);
	}
	for (size_t i = 0; i < n; i++)
		if (list[i].sets < list[i].asked)
			compared_interrupted_note(b, &list[i]);
	for (size_t i = 0; i < n; i++) {
		compared_notes_put(b, &list[i]);
		degenerate_put(b, &list[i]);
	}
	return w.verdict;
}

/* Returns the first output whose equality shows little, or NULL; buf gets the reason. */
static const char *nothing_in_them(const compared *list, size_t n, char *buf, size_t size)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < list[i].noutputs; k++)
			if (list[i].outputs[k].compared &&
			    compared_degenerate(&list[i].outputs[k].sum, buf, size))
				return list[i].outputs[k].name;
	return NULL;
}

/* Of a comparison with the verdict "different". */
static const compared_output *first_different(const compared *x)
{
	size_t i = 0;

	while (x->outputs[i].verdict != AGREE_DIFFERENT)
		i++;
	return &x->outputs[i];
}

void compared_answer(record_builder *b, const compared *list, size_t n)
{
	worst w = worst_of(list, n);
	char buf[120], of[120] = "", apart[48] = "", left[80] = "";
	size_t unknown = 0, all = 0;
	const char *nothing;

	for (size_t i = 0; i < n; i++) {
		unknown += list[i].nunknown;
		all += list[i].noutputs;
	}
	if (unknown > 0)
		snprintf(left, sizeof left, "; %zu of %zu outputs could not be compared", unknown,
			 all);

	if (w.of && w.of->label && n > 1)
		snprintf(of, sizeof of, " of %.100s", w.of->label);
	if (w.verdict == AGREE_DIFFERENT)
		w = worst_of(w.of, 1);
	if (!isnan(w.max_abs))
		mem_print(apart, sizeof apart, ": max abs difference %.2g", w.max_abs);
	nothing = nothing_in_them(list, n, buf, sizeof buf);
	if (w.verdict == AGREE_DIFFERENT && w.outside == 0)
		record_answer(b, "outputs%s differ: '%.60s': %s", of, first_different(w.of)->name,
			      first_different(w.of)->why);
	else if (w.verdict == AGREE_DIFFERENT)
		record_answer(b, "outputs%s differ%s, %llu of %llu elements outside the tolerance",
			      of, apart, (unsigned long long)w.outside, (unsigned long long)w.n);
	else if (w.verdict == AGREE_UNKNOWN)
		record_answer(b, "outputs%s could not all be compared", of);
	else if (nothing)
		record_answer(b, "outputs are equal, but '%.60s' shows little: %s%s", nothing, buf,
			      left);
	else if (w.verdict == AGREE_CLOSE)
		record_answer(b, "outputs agree%s%s", apart, left);
	else
		record_answer(b, "outputs are identical: %llu elements%s", (unsigned long long)w.n,
			      left);
}
