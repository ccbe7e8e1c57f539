/* interleaved_over.c - a live comparison repeated at several values of one option (--over
 * batch=1,8,64), and the crossover: the value from which another alternative is the faster. A
 * device with a higher cost of each call and a lower cost of each item wins from some batch on.
 *
 * Each value is a comparison by interleaved_rounds.c with an equal share of the time. Its results
 * are copied into a table, [values][alternatives without the baseline], before its arrays are
 * freed. A crossover is between two successive decided values with different verdicts; its estimate
 * is interpolated, the logarithm of the ratio over that of the value, and its interval is those two
 * values.
 *
 * A value that fails or is interrupted ends the loop; the values before it and its own complete
 * rounds are reported as incomplete, and without any the failure is returned. Key and values become
 * parts of tags, so their lengths are bounded (KEY_BYTES_MAX, VALUE_BYTES_MAX), and their number by
 * KEYED_VALUES_MAX.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/compare/keyed_values.h"
#include "study/compare/interleaved.h"
#include "base/decimal.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sink.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define KEY_BYTES_MAX	63
#define VALUE_BYTES_MAX 31

/* One alternative at one size. */
typedef struct outcome {
	char name[200]; /* "batch=4", or "batch=4 NAME" where there are several */
	double base_ns;
	bool per_item;
	interleaved_result x; /* its arrays are freed */
} outcome;

typedef struct over_values {
	keyed_values given;
	outcome *all;	   /* [values][n - 1] */
	size_t done;	   /* values that have an outcome */
	size_t last;	   /* the value that was measured last */
	trial_place place; /* in fresh processes only if the trials of all values are */
	dck_status failed;
	dck_err why;
} over_values;

static dck_status over_read(const char *text, over_values *o, dck_err *err)
{
	bool fits;

	DCK_TRY(keyed_values_read("--over", "OPTION=VALUE,VALUE", text, &o->given, err));
	fits = strlen(o->given.key) <= KEY_BYTES_MAX && o->given.n <= KEYED_VALUES_MAX;
	for (size_t i = 0; i < o->given.n && fits; i++)
		fits = o->given.value[i][0] && strlen(o->given.value[i]) <= VALUE_BYTES_MAX;
	if (!fits)
		DCK_FAIL(err, E_ARG,
			 "--over is '%s': give up to %d values, parted by single commas", text,
			 KEYED_VALUES_MAX);
	return DCK_OK;
}

/* The same subjects with one option more; functions are set by over_next(). */
static dck_status subjects_set(const interleaved *v, const dck_alternative *all, size_t n,
			       const over_values *o, size_t value, dck_subject *subjects,
			       dck_alternative *ret, dck_err *err)
{
	for (size_t i = 0; i < n; i++) {
		subjects[i] = *all[i].subject;
		ret[i] = (dck_alternative){all[i].name, &subjects[i]};
		if (subjects[i].kind == DCK_SUBJECT_FUNCTION && v->asked->over_next)
			continue;
		if (dck_opt_set(dck_model_options, &subjects[i].model, o->given.key,
				o->given.value[value], err) == DCK_OK)
			continue;
		if (err)
			err->code = DCK_E_ARG; /* a name that is in no table is mistyped */
		return err_while(err, DCK_E_ARG, "reading --over");
	}
	return DCK_OK;
}

static void outcomes_keep(over_values *o, const interleaved_rounds *r)
{
	for (size_t i = 1; i < r->n; i++) {
		outcome *to = &o->all[o->done * (r->n - 1) + i - 1];

		snprintf(to->name, sizeof to->name, "%s=%s%s%s", o->given.key,
			 o->given.value[o->done], r->n > 2 ? " " : "",
			 r->n > 2 ? r->candidates[i].what->name : "");
		to->base_ns = r->results[0].time_ns;
		to->per_item = r->per_item;
		to->x = r->results[i];
	}
	const bool starts = r->place.starts && (o->done == 0 || o->place.starts);

	if (o->done == 0 || !r->place.starts)
		o->place = r->place;
	o->place.starts = starts;
	o->done++;
}

static dck_status value_run(interleaved *v, const dck_alternative *all, size_t n, over_values *o,
			    dck_err *err)
{
	interleaved_candidate candidates[DCK_ALTERNATIVES_MAX] = {0};
	interleaved_result results[DCK_ALTERNATIVES_MAX] = {0};
	dck_alternative at[DCK_ALTERNATIVES_MAX];
	dck_subject *subjects = mem_alloc(n * sizeof *subjects);
	char phase[64];
	interleaved_rounds r = {.candidates = candidates,
				.results = results,
				.n = n,
				.margin = v->asked->margin,
				.phase = phase};
	dck_status status;

	DCK_NEED(subjects, err, "for %zu subjects", n);
	o->last = o->done;
	snprintf(phase, sizeof phase, "%.20s=%s", o->given.key, o->given.value[o->done]);
	status = subjects_set(v, all, n, o, o->done, subjects, at, err);
	if (status == DCK_OK && v->asked->over_next)
		status = v->asked->over_next(v->asked->over_self, o->given.value[o->done], err);
	for (size_t i = 0; i < n; i++)
		candidates[i].what = &at[i];
	v->deadline_ns = measure_context_now(&v->shared) + v->asked->max_time_ns / o->given.n;
	DCK_NEXT(status, interleaved_rounds_run(v, &r, err));
	if (status == DCK_OK && (r.failed == DCK_OK || r.done > 0))
		outcomes_keep(o, &r);
	DCK_NEXT(status, err_pass(r.failed, &r.why, err));
	interleaved_rounds_done(&r);
	mem_free(subjects);
	return status;
}

/* --- the record */

static void over_table(record_builder *b, interleaved *v, const over_values *o,
		       const dck_alternative *all, size_t n)
{
	const bool per_item = o->done > 0 && o->all[0].per_item;
	const dck_column columns[] = {
	    {"value", o->given.key, DCK_UNIT_NONE},
	    {"subject", "subject", DCK_UNIT_NONE},
	    {"base_time", per_item ? "first, of an item" : "first", DCK_UNIT_NS},
	    {"time", per_item ? "time of an item" : "time", DCK_UNIT_NS},
	    {"ratio", "ratio", DCK_UNIT_ONE},
	    {"verdict", "verdict", DCK_UNIT_NONE},
	};

	RECORD_TABLE(b, "compare/over", "Over sizes", columns);
	record_summary_columns(b, n > 2 ? "subject base_time time ratio verdict"
					: "base_time time ratio verdict");
	for (size_t k = 0; k < o->done; k++)
		for (size_t i = 1; i < n; i++) {
			const outcome *x = &o->all[k * (n - 1) + i - 1];

			record_cell_text(b, o->given.value[k]);
			record_cell_text(b, all[i].name);
			record_cell_real(b, x->base_ns);
			record_cell_real(b, x->x.time_ns);
			record_cell_interval(b, exp(x->x.median), exp(x->x.lo), exp(x->x.hi),
					     x->x.has_interval ? v->asked->level : 0);
			record_cell_text(b, verdict_texts[x->x.verdict]);
		}
}

/* Returns the size at which the ratio is 1, between sizes `from` and `to`, at which it is not:
 * interpolates its logarithm over that of the size. NaN: the sizes are not ascending numbers. */
static double crossing_size(const over_values *o, size_t n, size_t i, size_t from, size_t to)
{
	for (size_t k = from; k < to; k++) {
		const double a = decimal_strtod(o->given.value[k], NULL),
			     b = decimal_strtod(o->given.value[k + 1], NULL);
		const double ya = o->all[k * (n - 1) + i - 1].x.median,
			     yb = o->all[(k + 1) * (n - 1) + i - 1].x.median;

		if (!(a > 0 && b > a))
			return NAN;
		if ((ya < 0) != (yb < 0))
			return a * pow(b / a, ya / (ya - yb));
	}
	return NAN;
}

static void crossing_metric(record_builder *b, const interleaved *v, const over_values *o, size_t n,
			    size_t i, const char *key, size_t from, size_t to)
{
	const double size = crossing_size(o, n, i, from, to);
	char tag[240];

	snprintf(tag, sizeof tag, "compare/%s", key);
	if (isnan(size))
		record_metric_absent(b, tag, "the sizes are not numbers in ascending order");
	else
		record_metric_interval(b, tag, size, decimal_strtod(o->given.value[from], NULL),
				       decimal_strtod(o->given.value[to], NULL), v->asked->level,
				       "where the line of the ratios is 1, between the sizes at "
				       "which it is decided");
}

/* Appends "slower at batch=1, 2" for the sizes that have the verdict. */
static void verdict_sizes(const over_values *o, size_t n, size_t i, verdict which, char *text,
			  size_t size)
{
	size_t found = 0;

	for (size_t k = 0; k < o->done; k++) {
		if (o->all[k * (n - 1) + i - 1].x.verdict != which)
			continue;
		if (found++ == 0)
			text_add(text, size, "%s%s at %s=%s", *text ? "; " : "",
				 verdict_texts[which], o->given.key, o->given.value[k]);
		else
			text_add(text, size, ", %s", o->given.value[k]);
	}
}

/* Where none overtakes the other: which one is ahead at which sizes. */
static void no_crossover(const over_values *o, size_t n, size_t i, const char *name,
			 const char *base, char *text, size_t size)
{
	const verdict first = o->all[i - 1].x.verdict;
	char sizes[300] = "";
	bool common = o->done > 1 && first != VERDICT_UNDECIDED;

	for (size_t k = 1; k < o->done; k++)
		common &= o->all[k * (n - 1) + i - 1].x.verdict == first;
	if (common) {
		snprintf(text, size, "%s is %s %s at every %s from %s to %s", name,
			 first == VERDICT_FASTER   ? "faster than"
			 : first == VERDICT_SLOWER ? "slower than"
						   : "as fast as",
			 base, o->given.key, o->given.value[0], o->given.value[o->done - 1]);
		return;
	}
	for (verdict w = VERDICT_UNDECIDED; w <= VERDICT_SLOWER; w++)
		verdict_sizes(o, n, i, w, sizes, sizeof sizes);
	snprintf(text, size, "%s, compared with %s: %s", name, base, sizes);
}

/* Records between which two sizes one overtakes the other, or that none does; sizes between them
 * are undecided or the same. Appends it to the answer. */
static void crossover(record_builder *b, const interleaved *v, const over_values *o,
		      const dck_alternative *all, size_t n, size_t i, char *answer, size_t size)
{
	verdict last = VERDICT_UNDECIDED;
	size_t at = 0, found = 0, from = 0, to = 0;
	char key[200], tag[240], text[600] = "", said[900];

	for (size_t k = 0; k < o->done; k++) {
		const verdict now = o->all[k * (n - 1) + i - 1].x.verdict;

		if (now != VERDICT_FASTER && now != VERDICT_SLOWER)
			continue;
		if (last != VERDICT_UNDECIDED && now != last) {
			text_add(text, sizeof text, "%s%s from between %s=%s and %s",
				 found++ > 0 ? ", " : "", verdict_texts[now], o->given.key,
				 o->given.value[at], o->given.value[k]);
			from = at;
			to = k;
		}
		last = now;
		at = k;
	}
	snprintf(key, sizeof key, "crossover%s%s", n > 2 ? "/" : "", n > 2 ? all[i].name : "");
	snprintf(tag, sizeof tag, "compare/%s", key);
	if (found == 0) {
		no_crossover(o, n, i, all[i].name, all[0].name, said, sizeof said);
		record_fact_absent(b, "compare", key, said);
		record_metric_absent(b, tag, said);
	} else {
		snprintf(said, sizeof said, "%s is %s, compared with %s", all[i].name, text,
			 all[0].name);
		record_fact_text(b, "compare", key, text);
		if (found == 1)
			crossing_metric(b, v, o, n, i, key, from, to);
		record_note(b, "crossover", "%s", said);
	}
	text_add(answer, size, "%s%s", *answer ? "; " : "", said);
}

/* said: array of all outcomes. */
static void over_record_fill(record_builder *b, interleaved *v, const over_values *o,
			     const dck_alternative *all, size_t n, verdict_outcome *said)
{
	const size_t noutcomes = o->done * (n - 1);
	char tag[240], answer[1200] = "";

	for (size_t i = 0; i < noutcomes; i++) {
		const interleaved_result *x = &o->all[i].x;
		const char *name = o->all[i].name;

		said[i] = interleaved_outcome(x, o->all[i].per_item, name, name, o->all[i].base_ns,
					      v->asked->level);
		snprintf(said[i].how, sizeof said[i].how, "median of paired ratios");
		snprintf(tag, sizeof tag, "compare/ratio/%s", name);
		verdict_metric(b, tag, &said[i]);
		if (x->verdict == VERDICT_UNDECIDED) {
			record_note(b, "undecided", "%s: undecided after %zu round%s", name,
				    x->rounds, x->rounds == 1 ? "" : "s");
			record_remedy(b, "give more --max-time");
		}
	}
	record_metric_absent(b, "compare/ratio", "there is one for each size");
	verdict_facts(b, said, noutcomes, !v->asked->no_gate);
	if (noutcomes > 1) /* several sizes have no common verdict, unless all agree */
		for (size_t i = 1; i < noutcomes; i++)
			if (said[i].verdict != said[0].verdict) {
				record_fact_text(b, "compare", "verdict",
						 verdict_texts[VERDICT_UNDECIDED]);
				break;
			}
	for (size_t i = 1; i < n; i++)
		crossover(b, v, o, all, n, i, answer, sizeof answer);
	record_answer(b, "%s%s", answer, interleaved_where(&o->place));
	over_table(b, v, o, all, n);
	record_others_end(&v->others);
	record_others_put(&v->others, b, "samples", v->models);
	record_others_left_put(&v->others, b);
	measure_context_notes(&v->shared, b);
	if (o->failed == DCK_OK)
		return;
	record_set_incomplete(b, true);
	record_note(b, o->failed == DCK_E_CANCEL ? "interrupted" : "engine-failed",
		    "%s=%s: %s; this is what was measured until then", o->given.key,
		    o->given.value[o->last], o->why.msg);
}

dck_status interleaved_over(interleaved *v, const dck_alternative *all, size_t n, record_builder *b,
			    trial_place *ret, dck_err *err)
{
	over_values *o = mem_zalloc(1, sizeof *o);
	verdict_outcome *said = NULL;
	dck_err why = {0};
	dck_status status;

	DCK_NEED(o, err, "to compare over sizes");
	status = over_read(v->asked->over, o, err);
	if (status != DCK_OK)
		goto done;
	o->all = mem_zalloc(o->given.n * (n - 1), sizeof *o->all);
	said = mem_zalloc(o->given.n * (n - 1), sizeof *said);
	if (!o->all || !said) {
		status = ERR_NO_MEMORY(err, "to compare over %zu sizes", o->given.n);
		goto done;
	}
	while (o->failed == DCK_OK && o->done < o->given.n) {
		o->failed = value_run(v, all, n, o, &why);
		o->why = why;
	}
	if (o->done > 0) {
		over_record_fill(b, v, o, all, n, said);
		*ret = o->place;
	} else {
		status = err_pass(o->failed, &why, err);
	}
done:
	keyed_values_done(&o->given);
	mem_free(o->all);
	mem_free(said);
	mem_free(o);
	return status;
}
