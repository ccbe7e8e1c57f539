/* accuracy_record.c - the report on a classifier: confusion matrix, precision, recall and F1 of
 * each class with their averages, as scikit-learn's classification_report() has them; accuracy and
 * top-k accuracy with exact binomial intervals (Clopper and Pearson, Biometrika 26, 1934); and
 * McNemar's test of alternatives on the same items.
 *
 * The statistics are in stat/classify.c; this file turns them into metrics, tables, an answer and
 * notes, in the order of accuracy_record(). A list of classes may leave labels out: class k (the
 * number of classes) then means "none of these", and the accuracy compares the labels themselves. A
 * rate with nothing to divide by counts as 0, with a note.
 *
 * Sizes are bounded: classes have metrics up to METRIC_CLASSES, the matrix is written up to
 * MATRIX_CLASSES; with more classes the CONFUSIONS_SHOW most frequent pairs are found by sorting,
 * O(items * log items). Temporary arrays are in the caller's arena.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/accuracy/accuracy_record.h"
#include "base/err.h"
#include "base/units.h"
#include "base/utf8.h"
#include "base/mem.h"
#include "stat/stat.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BRIEF_CLASSES	5
#define LEVEL		0.95
#define METRIC_CLASSES	1000 /* with more, classes are in the tables alone */
#define MATRIX_CLASSES	40
#define CONFUSIONS_SHOW 20

typedef struct record_job {
	record_builder *b;
	mem_arena *arena;
	const accuracy_result *r;
	size_t k, items;
	stat_class *of; /* [k] of the first predictions */
	stat_classes all;
} record_job;

/* The averages have these names among the metrics of a class. */
static bool is_reserved(const char *name)
{
	return strcmp(name, "macro") == 0 || strcmp(name, "weighted") == 0 ||
	       strcmp(name, "micro") == 0;
}

/* --- metrics */

/* precision/NAME, recall/NAME, f1/NAME and support/NAME */
static void rates_metrics(const record_job *j, const char *name, const stat_average *v,
			  uint64_t support, const char *how)
{
	const struct {
		const char *family;
		double v;
	} rate[] = {{"precision", v->precision}, {"recall", v->recall}, {"f1", v->f1}};
	char tag[600];

	for (size_t i = 0; i < sizeof rate / sizeof *rate; i++) {
		snprintf(tag, sizeof tag, "%s/%s", rate[i].family, name);
		record_metric_real(j->b, tag, rate[i].v, how);
	}
	snprintf(tag, sizeof tag, "support/%s", name);
	record_metric_int(j->b, tag, (int64_t)support, how ? "items of all classes" : NULL);
}

static stat_average rates_of(const stat_class *s)
{
	return (stat_average){.precision = s->precision, .recall = s->recall, .f1 = s->f1};
}

static void accuracy_share_put(record_builder *b, const char *tag, uint64_t hits, uint64_t n,
			       const char *how)
{
	double lo, hi;

	stat_proportion(hits, n, LEVEL, &lo, &hi);
	record_metric_interval(b, tag, (double)hits / (double)n, lo, hi, LEVEL, how);
}

static uint64_t hits_within(const labels *p, uint64_t k)
{
	uint64_t hits = 0;

	for (size_t i = 0; i < p->n; i++)
		hits += p->ahead[i] < k;
	return hits;
}

/* Compares the labels themselves where some are outside the list: these may be right too. */
static bool is_right(const record_job *j, size_t which, size_t i)
{
	const classes *c = j->r->classes;
	const labels *t = j->r->truth, *p = &j->r->predictions[which];

	return c->complete ? c->truth[i] == c->predicted[which][i]
	       : t->text   ? strcmp(t->texts[i], p->texts[i]) == 0
			   : t->number[i] == p->number[i];
}

static uint64_t hits_of(const record_job *j, size_t which)
{
	uint64_t hits = 0;

	for (size_t i = 0; i < j->items; i++)
		hits += is_right(j, which, i);
	return hits;
}

static void overall_put(const record_job *j)
{
	const labels *p = &j->r->predictions[0];
	char how[160];

	snprintf(how, sizeof how, "%llu of %zu items; exact binomial interval",
		 (unsigned long long)hits_of(j, 0), j->items);
	accuracy_share_put(j->b, "accuracy/overall", hits_of(j, 0), j->items, how);
	if (j->r->top_k < 2)
		return;
	if (!p->ahead) {
		record_metric_absent(j->b, "accuracy/top_k",
				     "there are labels and no scores to rank");
		return;
	}
	const uint64_t hits = hits_within(p, j->r->top_k);
	snprintf(how, sizeof how, "the label is among the %llu highest scores in %llu of %zu items",
		 (unsigned long long)j->r->top_k, (unsigned long long)hits, j->items);
	accuracy_share_put(j->b, "accuracy/top_k", hits, j->items, how);
}

static void accuracy_metrics_put(const record_job *j)
{
	const classes *c = j->r->classes;

	overall_put(j);
	if (!c->complete)
		rates_metrics(j, "micro", &j->all.micro, j->all.support,
			      "over the listed classes together");
	rates_metrics(j, "macro", &j->all.macro, j->all.support, "mean over the classes");
	rates_metrics(j, "weighted", &j->all.weighted, j->all.support, "mean weighted by support");
	for (size_t i = 0; i < j->k && j->k <= METRIC_CLASSES; i++) {
		const stat_average of = rates_of(&j->of[i]);

		if (!is_reserved(c->name[i]) && c->name[i][0])
			rates_metrics(j, c->name[i], &of, j->of[i].support, NULL);
	}
}

/* --- the report's tables */

static const dck_column rates[] = {
    {.key = "label", .title = "label"},
    {.key = "precision", .title = "precision", .unit = DCK_UNIT_ONE},
    {.key = "recall", .title = "recall", .unit = DCK_UNIT_ONE},
    {.key = "f1", .title = "f1-score", .unit = DCK_UNIT_ONE},
    {.key = "support", .title = "support", .unit = DCK_UNIT_ONE},
};

/* Returns whether a summary shows the class: of many, those with the lowest recall. */
static bool is_among_worst(const record_job *j, size_t i)
{
	size_t worse = 0;

	for (size_t k = 0; k < j->k && worse < BRIEF_CLASSES; k++)
		worse += j->of[k].support > 0 && (j->of[k].recall < j->of[i].recall ||
						  (!(j->of[k].recall > j->of[i].recall) && k < i));
	return j->of[i].support > 0 && worse < BRIEF_CLASSES;
}

static void rates_row(const record_job *j, const char *name, const stat_average *v,
		      uint64_t support)
{
	record_cell_text(j->b, name);
	record_cell_real(j->b, v->precision);
	record_cell_real(j->b, v->recall);
	record_cell_real(j->b, v->f1);
	record_cell_int(j->b, (int64_t)support);
}

static void rates_put(const record_job *j)
{
	RECORD_TABLE(j->b, "accuracy/classes", "Classes", rates);
	for (size_t i = 0; i < j->k; i++) {
		const stat_average of = rates_of(&j->of[i]);

		rates_row(j, j->r->classes->name[i], &of, j->of[i].support);
		if (j->k > BRIEF_CLASSES && is_among_worst(j, i))
			record_summary_row(j->b);
	}
}

static void averages_put(const record_job *j)
{
	static const char one[] = "the accuracy is one number";

	RECORD_TABLE(j->b, "accuracy/averages", "Averages", rates);
	if (j->r->classes->complete) {
		record_cell_text(j->b, "accuracy");
		record_cell_absent(j->b, one);
		record_cell_absent(j->b, one);
		/* The denominator is all items, including items without a prediction. */
		record_cell_real(j->b, j->all.micro.recall);
		record_cell_int(j->b, (int64_t)j->all.support);
	} else {
		rates_row(j, "micro avg", &j->all.micro, j->all.support);
	}
	rates_row(j, "macro avg", &j->all.macro, j->all.support);
	rates_row(j, "weighted avg", &j->all.weighted, j->all.support);
}

/* --- confusions */

static dck_status matrix_put(const record_job *j, dck_err *err)
{
	const classes *c = j->r->classes;
	const size_t k = j->k, side = k + 1;
	uint64_t *count = mem_arena_array(j->arena, side * side, sizeof *count);
	dck_column *columns = mem_arena_array(j->arena, side + 1, sizeof *columns);
	bool other_truth = false, other_predicted = false;

	DCK_NEED(count && columns, err, "for the report on the classes");
	for (size_t i = 0; i < j->items; i++) {
		const uint32_t t = c->truth[i], p = c->predicted[0][i];

		count[t * side + p]++;
		other_truth |= t == k;
		other_predicted |= p == k;
	}
	const size_t ncolumns = k + other_predicted;
	columns[0] = (dck_column){.key = "label", .title = "label"};
	for (size_t p = 0; p < ncolumns; p++)
		columns[p + 1] = (dck_column){
		    .key = p < k ? mem_arena_fmt(j->arena, "as_%zu", p) : "as_other",
		    .title = p < k ? c->name[p] : "(other)",
		    .unit = DCK_UNIT_ONE,
		};
	DCK_NEED(!mem_arena_failed(j->arena), err, "for the report on the classes");
	record_table(j->b, "accuracy/confusion",
		     "Confusion: how many items of the row's label were predicted as the column's",
		     columns, ncolumns + 1);
	for (size_t t = 0; t < k + other_truth; t++) {
		record_cell_text(j->b, t < k ? c->name[t] : "(other)");
		for (size_t p = 0; p < ncolumns; p++)
			record_cell_int(j->b, (int64_t)count[t * side + p]);
	}
	return DCK_OK;
}

typedef struct pair {
	uint32_t truth, predicted;
	uint64_t n;
} pair;

static int pair_by_class(const void *a, const void *b)
{
	const pair *x = a, *y = b;

	if (x->truth != y->truth)
		return x->truth < y->truth ? -1 : 1;
	return (x->predicted > y->predicted) - (x->predicted < y->predicted);
}

static int pair_by_count(const void *a, const void *b)
{
	const pair *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return pair_by_class(a, b);
}

/* Writes the most frequent confusions, where there are too many classes for a matrix. */
static dck_status confusions_put(const record_job *j, dck_err *err)
{
	static const dck_column columns[] = {
	    {.key = "label", .title = "label"},
	    {.key = "predicted", .title = "predicted as"},
	    {.key = "items", .title = "items", .unit = DCK_UNIT_ONE},
	};
	const classes *c = j->r->classes;
	pair *list = mem_arena_array(j->arena, j->items, sizeof *list);
	size_t n = 0, kept = 0;

	DCK_NEED(list, err, "for the report on the classes");
	for (size_t i = 0; i < j->items; i++)
		if (c->truth[i] != c->predicted[0][i])
			list[n++] = (pair){c->truth[i], c->predicted[0][i], 1};
	qsort(list, n, sizeof *list, pair_by_class);
	for (size_t i = 0; i < n; i++) {
		if (kept > 0 && pair_by_class(&list[kept - 1], &list[i]) == 0)
			list[kept - 1].n++;
		else
			list[kept++] = list[i];
	}
	qsort(list, kept, sizeof *list, pair_by_count);
	record_table(j->b, "accuracy/confusions", "Most frequent confusions", columns, 3);
	for (size_t i = 0; i < kept && i < CONFUSIONS_SHOW; i++) {
		record_cell_text(j->b, list[i].truth < j->k ? c->name[list[i].truth] : "(other)");
		record_cell_text(j->b,
				 list[i].predicted < j->k ? c->name[list[i].predicted] : "(other)");
		record_cell_int(j->b, (int64_t)list[i].n);
	}
	return DCK_OK;
}

/* --- several predictions of the same items */

typedef struct paired {
	uint64_t changed, only_reference, only_other;
} paired;

static bool accuracy_is_same(const record_job *j, size_t which, size_t i)
{
	const labels *a = &j->r->predictions[0], *b = &j->r->predictions[which];

	return a->text ? strcmp(a->texts[i], b->texts[i]) == 0 : a->number[i] == b->number[i];
}

static paired accuracy_compare(const record_job *j, size_t which)
{
	paired p = {0};

	for (size_t i = 0; i < j->items; i++) {
		const bool a = is_right(j, 0, i), b = is_right(j, which, i);

		p.changed += !accuracy_is_same(j, which, i);
		p.only_reference += a && !b;
		p.only_other += b && !a;
	}
	return p;
}

static void alternatives_put(const record_job *j)
{
	static const dck_column columns[] = {
	    {.key = "predictions", .title = "predictions"},
	    {.key = "accuracy", .title = "accuracy", .unit = DCK_UNIT_ONE},
	    {.key = "changed", .title = "changed", .unit = DCK_UNIT_ONE},
	    {.key = "only_reference", .title = "now wrong", .unit = DCK_UNIT_ONE},
	    {.key = "only_other", .title = "now right", .unit = DCK_UNIT_ONE},
	    {.key = "mcnemar_p", .title = "McNemar p", .unit = DCK_UNIT_ONE},
	};
	static const char first[] = "it is the reference";

	if (j->r->n < 2)
		return;
	RECORD_TABLE(j->b, "accuracy/alternatives", "Accuracy, and predictions that changed",
		     columns);
	record_summary_columns(j->b, "accuracy changed only_reference only_other mcnemar_p");
	for (size_t i = 0; i < j->r->n; i++) {
		const uint64_t hits = hits_of(j, i);
		double lo, hi;
		char tag[256];

		stat_proportion(hits, j->items, LEVEL, &lo, &hi);
		record_cell_text(j->b, j->r->names[i]);
		record_cell_interval(j->b, (double)hits / (double)j->items, lo, hi, LEVEL);
		if (i == 0) {
			for (size_t k = 2; k < sizeof columns / sizeof columns[0]; k++)
				record_cell_absent(j->b, first);
			continue;
		}
		const paired p = accuracy_compare(j, i);
		record_cell_int(j->b, (int64_t)p.changed);
		record_cell_int(j->b, (int64_t)p.only_reference);
		record_cell_int(j->b, (int64_t)p.only_other);
		record_cell_real(j->b, stat_mcnemar(p.only_reference, p.only_other));
		snprintf(tag, sizeof tag, "accuracy/overall/%s", j->r->names[i]);
		accuracy_share_put(j->b, tag, hits, j->items, "exact binomial interval");
	}
}

/* --- the answer */

static void accuracy_answer_put(const record_job *j)
{
	const uint64_t hits = hits_of(j, 0);
	const labels *p = &j->r->predictions[0];
	char worst[160] = "", top[64] = "";
	size_t least = j->k;
	double lo, hi;

	if (j->items == 0)
		return;
	for (size_t i = 0; i < j->k; i++)
		if (j->of[i].support > 0 &&
		    (least == j->k || j->of[i].recall < j->of[least].recall))
			least = i;
	if (least < j->k && j->k > 1)
		mem_print(worst, sizeof worst, "; worst class: %.*s (recall %.2f)",
			  UTF8_NAME(j->r->classes->name[least]), j->of[least].recall);
	if (j->r->top_k > 1 && p->ahead)
		mem_print(top, sizeof top, "; %.1f %% among the %llu highest scores",
			  100 * (double)hits_within(p, j->r->top_k) / (double)j->items,
			  (unsigned long long)j->r->top_k);
	stat_proportion(hits, j->items, LEVEL, &lo, &hi);
	record_answer(j->b, "%.1f %% of %s right [%.1f, %.1f]%s%s",
		      100 * (double)hits / (double)j->items, UNITS_COUNT((int64_t)j->items),
		      100 * lo, 100 * hi, top, worst);
}

/* --- notes */

static const char *first_class(const record_job *j, bool (*is)(const stat_class *s))
{
	for (size_t i = 0; i < j->k; i++)
		if (is(&j->of[i]))
			return j->r->classes->name[i];
	return "";
}

static bool has_no_predictions(const stat_class *s)
{
	return s->predicted == 0;
}

static bool has_no_items(const stat_class *s)
{
	return s->support == 0;
}

static void nan_note(const record_job *j, size_t which)
{
	const labels *p = &j->r->predictions[which];

	if (p->nnone > 0)
		record_note(j->b, "nan-predictions",
			    "predictions of '%s' that are not numbers (NaN): %zu of %zu, "
			    "the first for item %zu; they count as wrong and as no class",
			    p->from, p->nnone, p->n, p->first_none + 1);
}

/* Labels without a column of scores are the classic mistake of counting from 1. */
static void columns_note(const record_job *j)
{
	const labels *t = j->r->truth, *p = &j->r->predictions[0];
	uint64_t beyond = 0;
	int64_t most = 0;

	for (size_t i = 0; p->columns > 0 && !t->text && i < t->n; i++) {
		beyond += t->number[i] < 0 || (uint64_t)t->number[i] >= p->columns;
		most = t->number[i] > most ? t->number[i] : most;
	}
	if (beyond > 0)
		record_note(j->b, "labels-beyond-scores",
			    "%llu of %zu labels have no score: there are %zu, "
			    "for the classes 0 to %zu, and labels up to %lld. "
			    "Are the labels counted from 1?",
			    (unsigned long long)beyond, t->n, p->columns, p->columns - 1,
			    (long long)most);
}

/* Labels 0 to 999 and 1001 scores, the first of the background: each prediction is one more. Of two
 * classes a model that mixes them up looks the same. */
#define SHIFT_POOR    0.1
#define SHIFT_GOOD    0.5
#define SHIFT_CLASSES 4
static void shift_note(const record_job *j)
{
	const labels *t = j->r->truth, *p = &j->r->predictions[0];
	const double n = (double)j->items, now = (double)hits_of(j, 0) / n;
	uint64_t hits[2] = {0};

	if (t->text || j->k < SHIFT_CLASSES || now >= SHIFT_POOR)
		return;
	for (size_t i = 0; i < j->items; i++) {
		hits[0] += t->number[i] < INT64_MAX && p->number[i] == t->number[i] + 1;
		hits[1] += p->number[i] < INT64_MAX && p->number[i] + 1 == t->number[i];
	}
	const size_t less = hits[1] > hits[0];
	if ((double)hits[less] < SHIFT_GOOD * n)
		return;
	record_note(j->b, "labels-shifted",
		    "%.1f %% are right, and %.1f %% would be if every label were %s by 1",
		    100 * now, 100 * (double)hits[less] / n, less ? "less" : "greater");
	record_remedy(j->b, "%s",
		      less ? "count labels from 0"
			   : "add 1 to the labels, as the first score may be of the background");
}

static void accuracy_notes_put(const record_job *j)
{
	const stat_classes *all = &j->all;
	const classes *c = j->r->classes;

	if (all->never_predicted > 0)
		record_note(j->b, "class-never-predicted",
			    "never predicted: %zu of %zu classes ('%s'%s); "
			    "their precision has nothing to divide by and counts as 0",
			    all->never_predicted, j->k, first_class(j, has_no_predictions),
			    all->never_predicted > 1 ? ", ..." : "");
	if (all->empty > 0)
		record_note(j->b, "class-without-items",
			    "without items: %zu of %zu classes ('%s'%s); "
			    "their recall has nothing to divide by and counts as 0, "
			    "in the macro average too",
			    all->empty, j->k, first_class(j, has_no_items),
			    all->empty > 1 ? ", ..." : "");
	for (size_t i = 0; i < j->k; i++)
		if (is_reserved(c->name[i]))
			record_note(j->b, "label-reserved",
				    "the label '%s' has the name of an average: "
				    "its numbers are in the table accuracy/classes alone, "
				    "not among the metrics",
				    c->name[i]);
	columns_note(j);
	shift_note(j);
	for (size_t i = 0; i < j->r->n; i++)
		nan_note(j, i);
}

/* --- all of it */

dck_status accuracy_top_k_check(uint64_t top_k, size_t columns, dck_err *err)
{
	if (columns > 0 && top_k > columns)
		DCK_FAIL(err, E_ARG,
			 "--top-k is %llu, and an item has %zu scores: give at most that",
			 (unsigned long long)top_k, columns);
	return DCK_OK;
}

dck_status accuracy_record(record_builder *b, mem_arena *a, const accuracy_result *r, dck_err *err)
{
	const classes *c = r->classes;
	record_job j = {.b = b, .arena = a, .r = r, .k = c->n, .items = r->truth->n};
	double *scratch = mem_arena_array(a, c->n, sizeof *scratch);

	DCK_TRY(accuracy_top_k_check(r->top_k, r->predictions[0].columns, err));
	j.of = mem_arena_array(a, c->n, sizeof *j.of);
	DCK_NEED(scratch && j.of, err, "for the report on the classes");
	stat_classify(c->truth, c->predicted[0], j.items, j.k, scratch, j.of, &j.all);
	record_fact_int(b, "accuracy", "items", DCK_UNIT_ONE, (int64_t)j.items);
	record_fact_int(b, "accuracy", "classes", DCK_UNIT_ONE, (int64_t)j.k);
	record_fact_int(b, "accuracy", "digits", DCK_UNIT_ONE, (int64_t)r->digits);
	accuracy_metrics_put(&j);
	rates_put(&j);
	averages_put(&j);
	alternatives_put(&j);
	DCK_TRY(j.k <= MATRIX_CLASSES ? matrix_put(&j, err) : confusions_put(&j, err));
	accuracy_answer_put(&j);
	accuracy_notes_put(&j);
	return DCK_OK;
}
