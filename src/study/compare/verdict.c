/* verdict.c - verdicts on the ratio of two times by its interval and a margin, and the parts of a
 * record that live and saved comparisons share.
 *
 * A margin m makes the zone from 1/(1+m) to 1+m. An interval wholly above it is "slower", wholly
 * below it "faster", wholly within it "same" (an equivalence test by an interval: Schuirmann, J.
 * Pharmacokinet. Biopharm. 15, 1987); all else, and a missing interval, is "undecided".
 * verdict_more() extrapolates how many times the data would decide: the half-width, on the
 * logarithm, falls with the root of their number, but for a fixed part of it.
 *
 * The gate of several alternatives is their worst: a regression fails it although others are
 * undecided. The answer states up to three alternatives, of more than three the first two. Texts
 * are made in an arena for the call; without memory the answer is omitted.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/compare/verdict.h"
#include "base/common_prefix.h"
#include "base/decimal.h"
#include "measure/latency_limit.h"
#include "base/mem.h"
#include "deepclock/compare.h"
#include <math.h>
#include <stdio.h>

const char *const verdict_texts[] = {
    [VERDICT_UNDECIDED] = "undecided",
    [VERDICT_SAME] = "same",
    [VERDICT_FASTER] = "faster",
    [VERDICT_SLOWER] = "slower",
};

verdict verdict_of(double lo, double hi, double margin)
{
	const double above = 1 + margin, below = 1 / above;

	if (isnan(lo) || isnan(hi))
		return VERDICT_UNDECIDED;
	if (lo > above)
		return VERDICT_SLOWER;
	if (hi < below)
		return VERDICT_FASTER;
	if (margin > 0 && lo >= below && hi <= above)
		return VERDICT_SAME;
	return VERDICT_UNDECIDED;
}

double verdict_more(double value, double lo, double hi, double margin, double fixed)
{
	const double edge = log1p(margin);
	const double at = log(value), half = (log(hi) - log(lo)) / 2;
	const double distance = fmin(fabs(at - edge), fabs(at + edge));

	const double left = distance * distance - fixed * fixed;
	const double times = (half * half - fixed * fixed) / left;

	if (!(half > 0))
		return NAN;
	if (left > 0 && times < VERDICT_MORE_MAX)
		return fmax(1, times);
	return distance > 0.05 * edge ? INFINITY : NAN;
}

int verdict_decimals(double lo, double hi)
{
	const double half = (hi - lo) / 2;
	const int n = half > 0 && isfinite(half) ? (int)ceil(1 - log10(half)) : 2;

	return n < 0 ? 0 : n > 6 ? 6 : n;
}

/* Returns the decimals of one number of an interval: those of the interval, or, where its ends
 * differ by more than twice, those that give the number itself two digits. */
static int verdict_decimals_at(double v, double lo, double hi)
{
	if (hi <= 2 * lo || !(v > 0) || !isfinite(v))
		return verdict_decimals(lo, hi);
	return (int)fmin(6, fmax(0, ceil(1 - log10(v))));
}

/* The answer for one alternative. lo NaN: no interval; ratio 0: none, for the reason `why`. */
typedef struct verdict_said {
	verdict verdict;
	double ratio, lo, hi;
	const char *why;
} verdict_said;

static verdict_said said_of(const verdict_outcome *o)
{
	const bool known = o->ratio.value.kind == DCK_VALUE_REAL, level = o->ratio.level > 0;

	return (verdict_said){.verdict = o->verdict,
			      .ratio = known ? o->ratio.value.as.r : 0,
			      .lo = level ? o->ratio.lo : NAN,
			      .hi = level ? o->ratio.hi : NAN,
			      .why = known ? "" : o->ratio.value.as.text};
}

#define TIMES_FROM 1.5 /* smaller ratios are stated in percent */

/* Returns the decimals for three digits and no exponent. */
static int verdict_decimals_of(double v)
{
	return v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2;
}

/* Returns the change of the metric in percent: of a time or of a rate; ratio: one of times. */
static double change_percent(double ratio, bool rate)
{
	return 100 * (rate ? 1 - 1 / ratio : ratio - 1);
}

/* "2.31 times slower than a [1.93, 2.66]", "5.3 % slower than a [4.1, 6.4]": how much more time the
 * slower of the two needs, or by what share of a's a rate differs. */
static const char *ratio_text(const verdict_said *s, const char *word, const char *than,
			      bool inverse, mem_arena *a)
{
	const bool below = s->ratio < 1;
	const double ratio = below ? 1 / s->ratio : s->ratio;
	const double lo = below ? 1 / s->hi : s->lo, hi = below ? 1 / s->lo : s->hi;
	const bool times = ratio >= TIMES_FROM, rate = inverse && !below;
	const double v[3] = {times ? ratio : change_percent(ratio, rate),
			     times ? lo : change_percent(lo, rate),
			     times ? hi : change_percent(hi, rate)};
	const int digits = verdict_decimals_of(fabs(v[0]));
	const char *size =
	    mem_arena_fmt(a, "%.*f%s %s%s", digits, v[0], times ? " times" : " %", word, than);

	if (isnan(lo) || isnan(hi))
		return size;
	return mem_arena_fmt(a, "%s [%.*f, %.*f]", size, digits, v[1], digits, v[2]);
}

/* Returns whether the metric, NULL: a time, may be faster or slower; others are better or worse. */
static bool is_speed(const dck_metric_def *metric)
{
	return !metric || metric->unit == DCK_UNIT_NS || metric->unit == DCK_UNIT_ITEM_PER_S;
}

static const char *verdict_word(verdict v, const dck_metric_def *metric)
{
	if (is_speed(metric) || (v != VERDICT_FASTER && v != VERDICT_SLOWER))
		return verdict_texts[v];
	return v == VERDICT_SLOWER ? "worse" : "better";
}

static const char *said_text(const verdict_said *s, const char *name, double margin,
			     const char *base, const dck_metric_def *metric, mem_arena *a)
{
	/* The ratio is one of times: of a rate it is the baseline's over the other's. */
	const bool inverse = metric && metric->better == DCK_BETTER_HIGHER;
	const char *than = mem_arena_fmt(a, " than %s", base), *word;
	const int digits = verdict_decimals(s->lo, s->hi);

	/* Equal or unequal counts of which one is 0. */
	if (!(s->ratio > 0) && s->verdict != VERDICT_UNDECIDED)
		return mem_arena_fmt(a, "%s is %s%s: %s", name,
				     s->verdict == VERDICT_SAME ? "the same as "
								: verdict_word(s->verdict, metric),
				     s->verdict == VERDICT_SAME ? base : than, s->why);
	switch (s->verdict) {
	case VERDICT_SLOWER:
	case VERDICT_FASTER:
		word = verdict_word(s->ratio >= 1 ? VERDICT_SLOWER : VERDICT_FASTER, metric);
		return mem_arena_fmt(a, "%s is %s", name, ratio_text(s, word, than, inverse, a));
	case VERDICT_SAME:
		return mem_arena_fmt(a, "%s is %s as %s within %s: ratio %.*f [%.*f, %.*f]", name,
				     is_speed(metric) ? "as fast" : "the same", base,
				     PERCENT_TEXT(3, margin), digits, s->ratio, digits, s->lo,
				     digits, s->hi);
	case VERDICT_UNDECIDED:
		break;
	}
	if (!(s->ratio > 0) || isnan(s->lo) || isnan(s->hi))
		return mem_arena_fmt(a, "%s: undecided", name);
	return mem_arena_fmt(a, "undecided: %s over %s is %.*f [%.*f, %.*f]", inverse ? base : name,
			     inverse ? name : base, verdict_decimals_at(s->ratio, s->lo, s->hi),
			     s->ratio, verdict_decimals_at(s->lo, s->lo, s->hi), s->lo,
			     verdict_decimals_at(s->hi, s->lo, s->hi), s->hi);
}

void verdict_answer(record_builder *b, const char *base, const verdict_outcome *all, size_t n,
		    double margin, const dck_metric_def *metric, const char *where)
{
	const dck_unit unit = metric ? metric->unit : DCK_UNIT_NS;
	const char *what = unit == DCK_UNIT_NS		 ? NULL
			   : unit == DCK_UNIT_ITEM_PER_S ? "items per second"
							 : metric->name;
	const char *names[DCK_ALTERNATIVES_MAX + 1];
	const size_t most = n < 3 ? n : 2;
	mem_arena *a = mem_arena_new(0);
	const char *text = "";

	if (!a || n == 0 || n > DCK_ALTERNATIVES_MAX) {
		mem_arena_free(a);
		return;
	}
	names[0] = base;
	for (size_t i = 0; i < n; i++)
		names[i + 1] = all[i].label;
	const size_t shared = common_prefix(names, n + 1);
	for (size_t i = 0; i < most && text; i++) {
		const verdict_said s = said_of(&all[i]);

		text = mem_arena_fmt(
		    a, "%s%s%s", text, i > 0 ? "; " : "",
		    said_text(&s, all[i].label + shared, margin, base + shared, metric, a));
	}
	if (!mem_arena_failed(a) && most < n)
		record_answer(b, "%s%s%s; and %zu more%s", what ? what : "", what ? ": " : "", text,
			      n - most, where);
	else if (!mem_arena_failed(a))
		record_answer(b, "%s%s%s%s", what ? what : "", what ? ": " : "", text, where);
	mem_arena_free(a);
}

/* --- the parts of a record that both comparisons have */

dck_cell verdict_cell(double v, double lo, double hi, double level)
{
	return (dck_cell){.value = RECORD_REAL(v), .lo = lo, .hi = hi, .level = level};
}

dck_cell verdict_cell_absent(const char *why)
{
	return (dck_cell){.value = RECORD_ABSENT(why)};
}

void verdict_metric(record_builder *b, const char *tag, const verdict_outcome *o)
{
	const dck_cell *c = &o->ratio;

	if (c->value.kind == DCK_VALUE_ABSENT)
		record_metric_absent(b, tag, c->value.as.text);
	else
		record_metric(b, tag, c->value, c->lo, c->hi, c->level, o->how);
}

void verdict_metrics(record_builder *b, const verdict_outcome *all, size_t n)
{
	char tag[160];

	verdict_metric(b, "compare/ratio", &all[0]);
	for (size_t i = 0; i < n && n > 1; i++) {
		snprintf(tag, sizeof tag, "compare/ratio/%s", all[i].name);
		verdict_metric(b, tag, &all[i]);
	}
}

void verdict_facts(record_builder *b, const verdict_outcome *all, size_t n, bool gate)
{
	dck_verdict worst = DCK_VERDICT_MET;
	char key[160];

	for (size_t i = 0; i < n; i++) {
		if (i == 0)
			record_fact_text(b, "compare", "verdict", verdict_texts[all[i].verdict]);
		snprintf(key, sizeof key, "verdict/%s", all[i].name);
		if (n > 1)
			record_fact_text(b, "compare", key, verdict_texts[all[i].verdict]);
		/* A regression is reported even where another alternative is undecided. */
		worst = latency_limit_worse(worst, all[i].gate);
	}
	if (gate)
		verdict_gate(b, worst);
}

void verdict_gate(record_builder *b, dck_verdict v)
{
	record_gate(b, v);
	record_fact_text(b, "compare", "gate",
			 v == DCK_VERDICT_MET	     ? "not worse"
			 : v == DCK_VERDICT_VIOLATED ? "regressed"
						     : "undecided");
}

void verdict_table(record_builder *b, const char *title, const dck_column *value, const char *ratio)
{
	const dck_column columns[] = {
	    {"subject", "subject", DCK_UNIT_NONE}, *value,
	    {"ratio", ratio, DCK_UNIT_ONE},	   {"difference", "difference", value->unit},
	    {"verdict", "verdict", DCK_UNIT_NONE},
	};

	RECORD_TABLE(b, "compare/alternatives", title, columns);
	record_summary_columns(b, "time value ratio verdict");
}

void verdict_cell_put(record_builder *b, const dck_cell *c)
{
	if (c->value.kind == DCK_VALUE_ABSENT)
		record_cell_absent(b, c->value.as.text);
	else
		record_cell_interval(b, c->value.as.r, c->lo, c->hi, c->level);
}

void verdict_row_base(record_builder *b, const char *label, dck_cell value, const char *why,
		      const char *word)
{
	record_cell_text(b, label);
	verdict_cell_put(b, &value);
	record_cell_absent(b, why);
	record_cell_absent(b, why);
	record_cell_text(b, word);
}

void verdict_row(record_builder *b, const verdict_outcome *o, const dck_metric_def *metric)
{
	record_cell_text(b, o->label);
	verdict_cell_put(b, &o->value);
	verdict_cell_put(b, &o->ratio);
	verdict_cell_put(b, &o->difference);
	record_cell_text(b, verdict_word(o->verdict, metric));
}
