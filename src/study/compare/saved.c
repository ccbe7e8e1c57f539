/* saved.c - dck_compare_records(): saved records compared by the ratios of independent estimates,
 * with verdicts that hold together by Holm's step-down procedure.
 *
 * Steps: schema and metric must agree, and unless --force machine and method (record/comparable.c);
 * each record's statistic is estimated at the level of its verdict (saved_value.c); its ratio to
 * the baseline's gets an interval by square-and-add on logarithms (saved_ratio.c); saved_judge()
 * decides; then facts, table, differences of operators (saved_ops.c) and notes (saved_notes.c) are
 * written. With --pool the last record is compared with the pool of all before it
 * (saved_pooled.c).
 *
 * Holm (Scand. J. Statist. 6, 1979): with k undecided records each is judged with the error divided
 * by k, until a pass decides none; at most k passes. The records are borrowed, and their samples
 * are used in place; at most DCK_ALTERNATIVES_MAX are compared. Sources are closed on every path.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/compare/saved.h"
#include "base/err.h"
#include "base/opt_text.h"
#include "record/record_begin.h"
#include "record/copy.h"
#include "record/comparable.h"
#include "study/compare/verdict.h"
#include "os/os.h"
#include "record/record_internal.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The least number of records before the last, for --pool. */
#define POOL_MIN 3
/* A bound for hostile records; a real one has fewer. */
#define HOST_FACTS_MAX 200

/* --- may they be compared? */

static dck_status check_records(const dck_record *const *records, size_t n,
				const dck_compare_config *c, dck_err *err)
{
	if (n < 2)
		DCK_FAIL(err, E_ARG, "a comparison needs at least two records");
	if (n > DCK_ALTERNATIVES_MAX)
		DCK_FAIL(err, E_ARG, "%zu records are too many to compare: at most %d", n,
			 DCK_ALTERNATIVES_MAX);
	for (size_t i = 0; i < n; i++)
		if (records[i]->schema != DCK_RECORD_SCHEMA)
			DCK_FAIL(err, E_VERSION,
				 "record %zu has schema %u and this deepclock compares schema %u: "
				 "measure again with one version",
				 i + 1, (unsigned)records[i]->schema, DCK_RECORD_SCHEMA);
	if (c->pool && n < POOL_MIN + 1)
		DCK_FAIL(err, E_ARG,
			 "how far recordings scatter is not known from fewer than %d: "
			 "give as many before the last",
			 POOL_MIN);
	return DCK_OK;
}

static dck_status check_metric(saved_comparison *c, dck_err *err)
{
	c->def = c->sides[0].source.def;
	if (c->def->better == DCK_BETTER_NEITHER)
		DCK_FAIL(err, E_ARG,
			 "'%s' is neither better nor worse when it grows, "
			 "so no verdict follows from it: compare a metric of time, throughput, "
			 "memory or cost",
			 c->tag);
	for (size_t i = 1; i < c->n; i++)
		if (c->sides[i].source.def->unit != c->def->unit)
			DCK_FAIL(err, E_ARG, "'%s' is in '%s' in one record and in '%s' in another",
				 c->tag, dck_unit_text(c->def->unit),
				 dck_unit_text(c->sides[i].source.def->unit));
	return DCK_OK;
}

static dck_status check_comparable(saved_comparison *c, dck_err *err)
{
	static const struct {
		comparable_group group;
		const char *code, *what;
	} must[] = {
	    {COMPARABLE_MACHINE, .code = "machine-differs", "were made on different machines"},
	    {COMPARABLE_METHOD, .code = "method-differs", "were measured in different ways"}};
	char text[260];

	for (size_t i = 1; i < c->n; i++) {
		saved_side *s = &c->sides[i];

		comparable_differ(c->sides[0].record, s->record, c->tag, &s->differs);
		for (size_t k = 0; k < sizeof must / sizeof must[0]; k++) {
			if (s->differs.count[must[k].group] == 0)
				continue;
			comparable_text(&s->differs, must[k].group, text, sizeof text);
			if (!c->asked->force)
				DCK_FAIL(err, E_ARG,
					 "'%.60s' and '%.60s' %s (%s): their difference is not "
					 "that of the subjects; --force compares all the same",
					 c->sides[0].name, s->name, must[k].what, text);
			record_note_as(c->b, DCK_WARN, must[k].code,
				       "'%s' and '%s' %s (%s): the ratio includes that",
				       c->sides[0].name, s->name, must[k].what, text);
		}
	}
	return DCK_OK;
}

/* --- verdicts */

static verdict verdict_make(const saved_ratio *r, double margin)
{
	/* Counts that are equal are the same, also where no difference is allowed. */
	if (r->lo == 1 && r->hi == 1)
		return VERDICT_SAME;
	return verdict_of(r->lo, r->hi, margin);
}

static void side_decide(const saved_comparison *c, saved_side *s)
{
	s->verdict = verdict_make(&s->ratio, c->asked->margin);
	s->gate = stat_limit_interval(s->ratio.lo, s->ratio.hi, 1 + c->asked->margin);
	s->open = s->verdict == VERDICT_UNDECIDED && !isnan(s->ratio.lo);
}

static void side_judge(const saved_comparison *c, saved_side *s, const saved_value *from,
		       double level)
{
	saved_source_value(&s->source, level, &s->value);
	saved_ratio_find(from, &s->value, c->def->better == DCK_BETTER_HIGHER, &s->ratio);
	saved_scaling_ratio(c, s);
	saved_conditions_extend(c, &c->sides[0], s, level);
	s->level = level;
	side_decide(c, s);
}

/* Holm (1979), with intervals: with k undecided alternatives each is judged with the error divided
 * by k. Decided alternatives are removed, and the others are judged again. Counts have no error to
 * divide. */
static void saved_judge(saved_comparison *c)
{
	const double error = 1 - c->asked->level;
	saved_side *base = &c->sides[0];
	size_t open = 0, before;

	if (c->pooled) {
		saved_pooled_judge(c);
		side_decide(c, &c->sides[c->first]);
		return;
	}
	saved_source_value(&base->source, c->asked->level, &base->value);
	base->level = c->asked->level;
	for (size_t i = 1; i < c->n; i++) {
		saved_side *s = &c->sides[i];

		side_judge(c, s, &base->value, c->asked->level);
		s->open = !s->ratio.exact && !isnan(s->ratio.lo);
		open += s->open;
	}
	if (open < 2)
		return;
	do {
		const double level = 1 - error / (double)open;
		saved_value from;

		before = open;
		saved_source_value(&base->source, level, &from);
		for (size_t i = 1; i < c->n; i++) {
			if (!c->sides[i].open)
				continue;
			side_judge(c, &c->sides[i], &from, level);
			open -= !c->sides[i].open;
		}
	} while (open > 0 && open < before);
}

/* --- the record */

/* Returns the value that the record itself reports: of several starts it is their median, and their
 * mean has the interval. */
static dck_cell side_cell(const saved_side *s)
{
	const dck_metric *m = s->source.metric;

	if (saved_source_means(&s->source))
		return verdict_cell(dck_value_number(&m->value), m->lo, m->hi,
				    m->level < 1 && m->lo <= m->hi ? m->level : 0);
	return saved_value_cell(&s->value, s->level);
}

static bool ratio_is_of_means(const saved_comparison *c)
{
	bool means = false;

	for (size_t i = 0; i < c->n; i++)
		means |= saved_source_means(&c->sides[i].source);
	return means;
}

static void saved_how_make(const saved_comparison *c, const saved_side *s, char *text, size_t size)
{
	const bool higher = c->def->better == DCK_BETTER_HIGHER;

	if (s->ratio.exact)
		snprintf(text, size, "%s%s; counted, not measured", higher ? "A over B of " : "",
			 c->tag);
	else if (c->pooled)
		snprintf(text, size, "%s%s; interval of one more of %zu recordings, Student's t",
			 higher ? "A over B of " : "", c->tag, c->first);
	else
		snprintf(text, size,
			 "%s%s%s; intervals of independent estimates, square-and-add on "
			 "logarithms%s",
			 higher ? "A over B of " : "", c->tag,
			 ratio_is_of_means(c) ? ", mean of the starts" : "",
			 s->disturbed ? ", of all runs and of undisturbed ones" : "");
}

static verdict_outcome outcome_make(const saved_comparison *c, const saved_side *s)
{
	const saved_ratio *r = &s->ratio;
	const double level = r->exact || isnan(r->lo) ? 0 : s->level;
	verdict_outcome o = {
	    .name = s->name,
	    .label = s->name,
	    .value = side_cell(s),
	    .ratio = r->known ? verdict_cell(r->value, r->lo, r->hi, level)
			      : verdict_cell_absent(r->why),
	    .difference = isnan(r->difference) ? verdict_cell_absent(r->why)
					       : verdict_cell(r->difference, r->difference_lo,
							      r->difference_hi, level),
	    .verdict = s->verdict,
	    .gate = s->gate,
	};

	saved_how_make(c, s, o.how, sizeof o.how);
	return o;
}

static void saved_metric_resolution(const saved_comparison *c)
{
	const saved_ratio *first = &c->sides[c->first].ratio;

	if (first->exact)
		record_metric_real(c->b, "compare/resolution", 0, "counts have no error");
	else if (first->known && first->lo > 0)
		record_metric_real(
		    c->b, "compare/resolution", expm1(log(first->hi / first->lo) / 2),
		    c->pooled ? "half the width of the ratio's interval, from recordings"
			      : "half the width of the ratio's interval");
	else
		record_metric_absent(c->b, "compare/resolution",
				     first->why[0] ? first->why : "the ratio has no interval");
}

static void saved_table(const saved_comparison *c, const verdict_outcome *all)
{
	static const char others_compared[] = "the others are compared with it",
			  part[] = "it is part of the baseline";
	const bool time = c->def->unit == DCK_UNIT_NS;
	const dck_column value = {time ? "time" : "value", c->def->name, c->def->unit};

	verdict_table(c->b, "Compared, from records", &value,
		      c->asked->scaling	     ? "over perfect"
		      : ratio_is_of_means(c) ? "ratio of means"
					     : "ratio");
	if (c->pooled)
		verdict_row_base(c->b, c->pool.name,
				 saved_value_cell(&c->pool.value, c->pool.level), others_compared,
				 "baseline");
	for (size_t i = 0; i < c->first; i++)
		verdict_row_base(c->b, c->sides[i].name, side_cell(&c->sides[i]),
				 c->pooled ? part : others_compared,
				 c->pooled ? "part of it" : "baseline");
	for (size_t i = c->first; i < c->n; i++)
		verdict_row(c->b, &all[i - c->first], c->def);
}

/* The ratios, verdicts and the answer, and the table of them. */
static void saved_outcomes_put(const saved_comparison *c)
{
	verdict_outcome all[DCK_ALTERNATIVES_MAX];
	const size_t n = c->n - c->first;

	for (size_t i = 0; i < n; i++)
		all[i] = outcome_make(c, &c->sides[c->first + i]);
	verdict_metrics(c->b, all, n);
	saved_metric_resolution(c);
	verdict_facts(c->b, all, n, true);
	if (!saved_scaling_put(c))
		verdict_answer(c->b, c->pooled ? c->pool.name : c->sides[0].name, all, n,
			       c->asked->margin, c->def, "");
	saved_table(c, all);
}

/* --- facts */

static void fact_record(const saved_comparison *c, const saved_side *s)
{
	const dck_record *r = s->record;
	char began[RECORD_TIME_SIZE] = "at an unknown time";

	if (r->began_unix_ns) {
		char *fraction;

		record_time_text(r->began_unix_ns, began);
		fraction = strchr(began, '.');
		if (fraction)
			memcpy(fraction, "Z", 2);
	}
	record_fact_fmt(c->b, "records", s->name, "%s%s, deepclock %s%s%.12s", began,
			r->incomplete ? ", incomplete" : "", r->version ? r->version : "?",
			r->id && r->id[0] ? ", id " : "", r->id ? r->id : "");
}

static void saved_facts(const saved_comparison *c)
{
	const dck_record *first = c->sides[0].record;
	const dck_fact *subject = dck_record_fact(first, "subject", "name");
	bool one_machine = true, one_subject = subject != NULL;

	for (size_t i = 1; i < c->n; i++) {
		one_machine &= c->sides[i].differs.count[COMPARABLE_MACHINE] == 0;
		one_subject &= c->sides[i].differs.count[COMPARABLE_SUBJECT] == 0;
	}
	if (one_subject)
		record_copy_fact(c->b, subject);
	for (size_t i = 0, n = 0; i < first->nfacts && one_machine && n < HOST_FACTS_MAX; i++)
		if (strcmp(first->facts[i].section, "host") == 0 && ++n)
			record_copy_fact(c->b, &first->facts[i]);
	for (size_t i = 0; i < c->n; i++)
		fact_record(c, &c->sides[i]);
	record_fact_text(c->b, "compare", "metric", c->tag);
	record_fact_real(c->b, "compare", "margin", DCK_UNIT_ONE, c->asked->margin);
	record_fact_text(c->b, "method", "compare", "saved records, not interleaved");
	record_fact_text(
	    c->b, "method", "interval",
	    c->sides[c->first].ratio.exact ? "none: counts have no error"
	    : c->pooled ? "of one more recording, from the scatter of those before: Student's t, "
			  "on logarithms"
			: "of the ratio of two independent estimates, "
			  "from the interval of each by square-and-add on logarithms");
	if (c->pooled)
		record_fact_real(c->b, "method", "scatter", DCK_UNIT_ONE, expm1(c->scatter));
	if (c->n - c->first > 1)
		record_fact_text(c->b, "method", "several", "Holm's procedure over the records");
	record_fact_real(c->b, "method", "level", DCK_UNIT_ONE, c->asked->level);
}

static dck_status compare_operators(const saved_comparison *c, dck_err *err)
{
	char suffix[160];

	for (size_t i = c->first; i < c->n; i++) {
		snprintf(suffix, sizeof suffix, "/%s", c->sides[i].name);
		/* With several before, the last of them: operators are not pooled. */
		DCK_TRY(saved_operators(c->b, c->sides[c->first - 1].record, c->sides[i].record,
					c->n - c->first > 1 ? suffix : "", c->asked, err));
	}
	return DCK_OK;
}

static dck_status saved_compare(saved_comparison *c, dck_err *err)
{
	for (size_t i = 0; i < c->n; i++)
		DCK_TRY(saved_source_open(c->sides[i].record, c->sides[i].name, c->tag,
					  &c->sides[i].source, err));
	for (size_t i = 0; i < c->n; i++)
		c->sides[i].source.run_to_run = c->pooled ? 0 : c->asked->run_to_run;
	DCK_TRY(check_metric(c, err));
	DCK_TRY(saved_scaling_check(c, err));
	DCK_TRY(check_comparable(c, err));
	DCK_TRY(saved_conditions_open(c, err));
	saved_judge(c);
	saved_facts(c);
	saved_outcomes_put(c);
	DCK_TRY(compare_operators(c, err));
	saved_notes(c);
	for (size_t i = 0; i < c->n; i++)
		if (c->sides[i].record->incomplete)
			record_set_incomplete(c->b, true);
	return DCK_OK;
}

dck_status dck_compare_records(const dck_record *const *records, size_t n,
			       const dck_compare_config *c, dck_record **ret, dck_err *err)
{
	const char *names[DCK_ALTERNATIVES_MAX];
	dck_compare_config own;
	saved_comparison all = {.asked = &own, .n = n};
	char tag[64];
	mem_arena *a;
	dck_status status = DCK_E_NOMEM;

	DCK_TRY(OPT_CONFIG_GET(c, &own, dck_compare_config_init, err, dck_compare_options,
			       dck_compare_saved_options));
	DCK_TRY(check_records(records, n, all.asked, err));
	a = mem_arena_new(0);
	all.b = record_begin(all.asked->title);
	all.sides = mem_zalloc(n, sizeof *all.sides);
	all.tag = saved_tag(records, n, all.asked, tag, sizeof tag);
	all.pooled = all.asked->pool;
	all.first = all.pooled ? n - 1 : 1;
	all.pool.name = "all before";
	if (a && all.b && all.sides && saved_names(records, n, all.asked->record_names, a, names)) {
		record_set_began(all.b, os_unix_ns());
		for (size_t i = 0; i < n; i++) {
			all.sides[i].record = records[i];
			all.sides[i].name = names[i];
		}
		status = saved_compare(&all, err);
	} else {
		ERR_NO_MEMORY(err, "for the comparison");
	}
	for (size_t i = 0; i < n && all.sides; i++) {
		saved_source_close(&all.sides[i].source);
		saved_source_close(&all.sides[i].undisturbed);
	}
	mem_free(all.sides);
	mem_arena_free(a);
	return record_finish_if(status, all.b, ret, err);
}
